"""A store, workflows that were submitted to it, and placeholder.sh at work on them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from headway.live import placeholder
from headway.live.store import Store, opened
from tests.shell import headway

SCRIPT = Path(placeholder.__path__[0], "placeholder.sh")
SERVICES = Path(sys.executable).parent
MARK = b"HEADWAY_PLACEHOLDER="
# A job that writes down what it does.
JOB = (
    "echo begin $HEADWAY_JOB $HEADWAY_ATTEMPT >> {0}/ledger; sleep {1};"
    " echo end $HEADWAY_JOB $HEADWAY_ATTEMPT >> {0}/ledger"
)
Process = subprocess.Popen[str]


class ScriptBench:
    """Commands are run as a user does in that folder."""

    def __init__(self, folder: Path, url: str | None = None, environment: dict[str, str] | None = None) -> None:
        self.folder, self._url = folder, url
        self.environment = {**(environment or os.environ), "XDG_STATE_HOME": str(folder / "state")}
        self.environment |= {"XDG_CONFIG_HOME": str(folder), "HEADWAY_SILENCE": "2"}
        self._begun: list[Process] = []

    @property
    def place(self) -> str:
        return self._url or str(self.folder / ".headway")

    def submit(self, *lines: str, name: str = "w.sh") -> int:
        """Submits a script of mqsub lines."""
        (self.folder / name).write_text("\n".join(lines) + "\n")
        words = ("submit", str(self.folder / name), "--store", self.place, "--json")
        done = headway(*words, env=self.environment)
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["workflow"])

    def layers(self, layers: int, width: int, seconds: float = 0.05) -> int:
        """Submits layers of jobs, each of which waits for the layer before."""
        lines, above = [], ""
        for layer in range(layers):
            names = [f"L{layer}N{at}" for at in range(width)]
            lines += [f"mqsub -deps '{above}' -l {name} -c '{JOB.format(self.folder, seconds)}'" for name in names]
            above = " ".join(names)
        return self.submit(*lines)

    def begin(self, *options: str, **more: str) -> Process:
        """A placeholder, in a session of its own."""
        words = ["dash", str(SCRIPT), "-b", str(SERVICES), "-p", self.place, "-w", "1", "-k", "1", *options]
        with (self.folder / "talk").open("a") as talk:
            begun = subprocess.Popen(
                words,
                cwd=self.folder,
                env={**self.environment, **more},
                stdin=subprocess.DEVNULL,
                stdout=talk,
                stderr=talk,
                text=True,
                start_new_session=True,
            )
        self._begun.append(begun)
        return begun

    def service(self, name: str, *pairs: str, **more: str) -> subprocess.CompletedProcess[str]:
        return headway(*pairs, f"store={self.place}", program=name, env={**self.environment, **more})

    def asked(self, *words: str) -> Any:
        done = headway(*words, "--store", self.place, "--json", env=self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @property
    def ledger(self) -> Counter[str]:
        with contextlib.suppress(FileNotFoundError):
            return Counter((self.folder / "ledger").read_text().splitlines())
        return Counter()

    def begun(self, job: str) -> bool:
        return any(line.startswith(f"begin {job} ") for line in self.ledger)

    @property
    def talk(self) -> str:
        return (self.folder / "talk").read_text()

    def store(self) -> Store:
        return opened(self._url or self.folder / ".headway/store.db")

    def counts(self, workflow: int = 1) -> dict[str, int]:
        store = self.store()
        found = store.progress.counts(workflow)  # type: ignore[arg-type]
        store.close()
        return {state.name.lower(): count for state, count in found.items()}

    def wrong(self, workflow: int = 1) -> list[str]:
        """What must not be once all is done: an end that is recorded and did not come, a job that ran after its end."""
        lines = (self.folder / "ledger").read_text().splitlines()
        ends = {tuple(line.split()[1:]) for line in lines if line.startswith("end ")}
        done = [
            (one["job"], str(one["attempt"]))
            for one in self.asked("history", "--workflow", str(workflow))["attempts"]
            if one["exit_code"] == 0
        ]
        wrong = [f"{one} is recorded and did not end" for one in done if one not in ends]
        return wrong + [
            f"{name} is done {count} times" for name, count in Counter(job for job, _ in done).items() if count > 1
        ]

    def close(self) -> None:
        for one in self._begun:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
            one.communicate()
        for pid in marked(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def marked(folder: Path) -> list[int]:
    """All that placeholders have started whose own folder is below this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            entries = (process / "environ").read_bytes()
            if MARK in entries and os.fsencode(folder) in entries:
                found.append(int(process.name))
    return found


def in_queue(bench: ScriptBench, submit: list[str], *head: str) -> list[str]:
    """A placeholder for a batch queue that takes one job and submits itself again; the command that submits it."""
    file = bench.folder / "placeholder.job"
    again = " ".join([*submit, str(file)])
    words = f"sh {SCRIPT} -b {SERVICES} -p {bench.place} -w 1 -k 1 -r '{again}'"
    file.write_text("\n".join(["#!/bin/sh", *head, f"exec {words} 2>>{bench.folder}/talk", ""]))
    return [*submit, str(file)]


def known(bench: ScriptBench) -> list[tuple[str, str]]:
    """sched and sched_id of every placeholder that has had a job."""
    store = bench.store()
    callers = store.database.connection.execute(  # type: ignore[attr-defined]
        "SELECT c.sched, c.sched_id FROM callers c WHERE c.placeholder IN (SELECT placeholder FROM attempts)"
    ).fetchall()
    store.close()
    return list(callers)


def kill_all(folder: Path) -> None:
    """Kills placeholders that use a store below this folder, and all that they have started."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if b"placeholder.sh" in words and os.fsencode(folder) in words:
                os.kill(int(process.name), signal.SIGKILL)
    for pid in marked(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
