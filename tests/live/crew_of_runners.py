"""Several `headway run` of one workflow at once, each with a runner in its own folder, as on hosts of their own."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from headway.live.client.asking import asked
from headway.live.home.folder import Home
from headway.live.home.store_location import server_folder
from headway.live.store import opened
from headway.model.states import State
from tests.live.ledger import Site, kill, runner_of, until


class Crew:
    """One workflow, and runs of it by number. Each spells the server's address its own way, so each has its folder."""

    def __init__(
        self, folder: Path, url: str, lines: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self.folder, self.url = folder, url
        self.workflow = folder / "w.sh"
        self.environment = {**os.environ, **(environment or {})}
        if lines:
            self.workflow.write_text("\n".join(lines) + "\n")
        self.jobs = len(self.workflow.read_text().splitlines())
        self._talk: dict[int, Path] = {}

    @classmethod
    def of_layers(
        cls,
        folder: Path,
        url: str,
        layers: int,
        width: int,
        environment: Mapping[str, str] | None = None,
        pause: float = 0.02,
    ) -> Crew:
        """Its jobs write what they do into a ledger."""
        Site(folder, layers, width, pause)
        return cls(folder, url, (), environment)

    # --- runs ------------------------------------------------------------------------------------------------------

    def place(self, number: int) -> str:
        return f"{self.url}?connect_timeout={10 + number}"

    def home(self, number: int) -> Path:
        return server_folder(self.folder / ".headway", self.place(number))

    def start(self, number: int, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        talk = self.folder / f"talk-{number}-{len(self._talk)}"
        command = [sys.executable, "-m", "headway", "run", str(self.workflow), "--store", self.place(number), *words]
        with talk.open("w") as stream:
            run = subprocess.Popen(
                [*command, *([] if "--slots" in words else ["--slots", "2"]), "--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                env={**self.environment, **(environment or {})},
            )
        self._talk[run.pid] = talk
        return run

    def ended(self, run: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
        """Its exit code and its answer."""
        out, _ = run.communicate(timeout=120)
        assert out, (run.returncode, self.said(run))
        return run.returncode, json.loads(out)

    def said(self, run: subprocess.Popen[str]) -> str:
        return self._talk[run.pid].read_text()

    def runner(self, number: int) -> int:
        """The pid of the runner of a run; 0 if there is none."""
        return runner_of(self.home(number))

    def workflow_is_known_to(self, number: int) -> bool:
        """Whether a run has told its runner what it wants."""
        if not self.runner(number):
            return False
        said = asked(Home(self.home(number)))
        return said is not None and bool(said.workflows)

    # --- what is known ---------------------------------------------------------------------------------------------

    def ledger(self) -> str:
        path = self.folder / "ledger"
        return path.read_text() if path.exists() else ""

    def ask(self, *words: str, folder: Path | None = None) -> str:
        command = [sys.executable, "-m", "headway", *words, "--store", self.url]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder or self.folder).stdout

    def workflows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.ask("runs", "--json"))["workflows"]
        return found

    def events(self) -> list[str]:
        """What happened out of the ordinary."""
        store = opened(self.url)
        with contextlib.closing(store):
            return [event.kind for event in store.history.events()]

    # --- harm ------------------------------------------------------------------------------------------------------

    def harass(self, rng: random.Random, runners: int, rounds: int) -> None:
        """Runs at work, of which now and then a process is killed, or stopped for a while."""
        runs = {number: self.start(number) for number in range(runners)}
        for _ in range(rounds):
            number = rng.randrange(runners)
            until(partial(self._is_under_way, number, runs[number]))
            time.sleep(rng.uniform(0.05, 0.8))
            runner, harm = self.runner(number), rng.choice(["client", "runner", "both", "stop", "stop"])
            if not runner:
                continue  # all is done
            if harm == "stop":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(runner, signal.SIGSTOP)
                    time.sleep(rng.uniform(0.1, 2.5))
                    os.kill(runner, signal.SIGCONT)
                continue
            if harm != "runner":
                runs[number].kill()
            if harm != "client":
                kill(runner)
            runs[number].communicate(timeout=60)
            runs[number] = self.start(number)
        for run in runs.values():
            run.kill()
            run.communicate(timeout=60)

    def _is_under_way(self, number: int, run: subprocess.Popen[str]) -> bool:
        return self.runner(number) != 0 or run.poll() is not None

    def finish(self) -> None:
        """A run that nobody harms."""
        run = self.start(0)
        code, answer = self.ended(run)
        assert (code, answer["done"]) == (0, self.jobs), (code, answer, self.said(run))

    def reruns(self) -> int:
        return self.ledger().count("begin ") - self.jobs

    def violations(self) -> list[str]:
        """What must not be. Jobs of a runner that was silent for too long may run beside their next attempt."""
        homes = list(self.folder.glob(".headway/server-*"))
        until(lambda: not any(map(runner_of, homes)))
        store = opened(self.url)
        with contextlib.closing(store):
            (workflow,) = (
                store.watching.workflows()
            )  # its number may be any: those of runs killed in mid-submission are lost
            counts, attempts = store.progress.counts(workflow.id), store.progress.attempts(workflow.id)
        wrong = [] if counts == {State.DONE: self.jobs} else [f"states: {counts}"]
        done = {(str(name), str(number)) for name, number, *_, code, _, _, _ in attempts if code == 0}
        lost = {(str(name), str(number)) for name, number, *_, reason in attempts if str(reason).startswith("lost")}
        wrong += [] if len(done) == self.jobs else [f"{len(done)} attempts count as done"]
        last: dict[str, str] = {}
        ends: set[tuple[str, str]] = set()
        for line in self.ledger().splitlines():
            word, name, attempt, _ = line.split()
            if word == "begin":
                wrong += [f"{name} ran again after {n} was done" for n in (last.get(name),) if (name, n) in done]
                last[name] = attempt
            elif last[name] != attempt and (name, attempt) not in lost:
                wrong.append(f"{name}: attempt {attempt} ran beside {last[name]}")
            if word == "end":
                ends.add((name, attempt))
        return wrong + [f"{name} is recorded done, and attempt {number} did not end" for name, number in done - ends]
