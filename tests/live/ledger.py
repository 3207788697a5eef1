"""A workflow whose jobs write down what they do, programs to kill, and what must hold after every kill."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headway.live.home.store_location import server_folder
from headway.live.store import Store, opened
from headway.model.messages import WorkflowId
from headway.model.states import State

SLOTS = 2
TICKS = 3
_JOB = """#!/bin/sh
# NAME ATTEMPT: says that it begins, that it is there, and that it ends.
echo "begin $1 $2 $$" >> "$3/ledger"
for tick in $(seq {ticks}); do sleep {pause}; echo "tick $1 $2 $$" >> "$3/ledger"; done
echo "end $1 $2 $$" >> "$3/ledger"
"""
# Ways to run the job, each of which hides it from some way to find it.
_PLAIN = "sh {job} {name} $HEADWAY_ATTEMPT {folder}"
WAYS = (
    _PLAIN,
    "exec env -i PATH=$PATH sh {job} {name} $HEADWAY_ATTEMPT {folder} > {folder}/{name}.out 2>&1",
    "setsid -w sh {job} {name} $HEADWAY_ATTEMPT {folder} > /dev/null 2>&1",
    "env -i PATH=$PATH sh {job} {name} $HEADWAY_ATTEMPT {folder} & wait $!",
    "exec env -i PATH=$PATH setsid -w sh {job} {name} $HEADWAY_ATTEMPT {folder}",
)


def until(what: Callable[[], object], seconds: float = 60) -> None:
    """Waits for something that will come true."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def hears(run: subprocess.Popen[str], text: str) -> None:
    """Until a command says something on standard error."""
    assert run.stderr is not None
    handle, said = run.stderr.fileno(), b""
    os.set_blocking(handle, False)

    def heard() -> bool:
        nonlocal said
        with contextlib.suppress(BlockingIOError):
            said += os.read(handle, 1 << 16)
        return text.encode() in said

    until(heard)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for is dead all the same."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def runner_of(home: Path) -> int:
    """The pid of whoever has the lock of a store's folder; 0: nobody."""
    try:
        number = (home / "lock").stat().st_ino
    except FileNotFoundError:
        return 0
    found = re.search(rf"FLOCK +ADVISORY +WRITE (\d+) \S+:{number} ", Path("/proc/locks").read_text())
    return int(found[1]) if found else 0


def keeper_of(runner: int) -> int:
    """The process that sees to a runner's jobs if the runner dies: its parent."""
    return int(Path(f"/proc/{runner}/stat").read_text().rpartition(")")[2].split()[1])


class Site:
    """A folder with a layered workflow, its store, and whatever runs there."""

    def __init__(
        self, folder: Path, layers: int = 3, width: int = 4, pause: float = 0.02, server: str | None = None
    ) -> None:
        self.folder = folder
        self.ledger = folder / "ledger"
        self.workflow = folder / "w.sh"
        self.home = folder / ".headway" if server is None else server_folder(folder / ".headway", server)
        self.server = server
        self.kills = 0
        self.keeper_kills = 0
        job = folder / "job.sh"
        job.write_text(_JOB.format(ticks=TICKS, pause=pause))
        lines, above = [], list[str]()
        for layer in range(layers):
            names = [f"L{layer}N{at}" for at in range(width)]
            for at, name in enumerate(names):
                command = WAYS[(layer * width + at) % len(WAYS)].format(job=job, name=name, folder=folder)
                lines.append(f"mqsub -deps '{' '.join(above)}' -l {name} -c '{command}'")
            above = names
        self.jobs = len(lines)
        self.workflow.write_text("\n".join(lines) + "\n")

    def start(self, environment: Mapping[str, str] | None = None, *words: str) -> subprocess.Popen[str]:
        words = (*words, *([] if self.server is None else ["--store", self.server]))
        return subprocess.Popen(
            [sys.executable, "-m", "headway", "run", str(self.workflow), "--slots", str(SLOTS), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def finish(self) -> dict[str, Any]:
        """A run that nobody kills."""
        process = self.start(None, "--json")
        out, talk = process.communicate(timeout=120)
        assert process.returncode == 0, (process.returncode, talk, self.talk())
        found: dict[str, Any] = json.loads(out)
        return found

    def talk(self) -> str:
        path = self.home / "runner.log"
        return path.read_text() if path.exists() else ""

    def runner(self) -> int:
        """The pid of whoever has the store's lock; 0: nobody."""
        return runner_of(self.home)

    def crash(self, rng: random.Random, victims: str, longest: float = 0.5, absent: float = 0.0) -> None:
        """Starts a run and kills `client`, `runner`, `both` or `all`, with the keeper, once there is a runner.

        `absent`: the most seconds for which nobody is there then.
        """
        process = self.start()
        until(lambda: self.runner() or process.poll() is not None)
        time.sleep(rng.uniform(0.0, longest))
        runner = self.runner()
        self.kills += 1
        if victims != "runner":
            process.kill()
        if victims == "all" and runner:
            with contextlib.suppress(FileNotFoundError):
                kill(keeper_of(runner))
                self.keeper_kills += 1
        if victims != "client" and runner:
            kill(runner)
        process.communicate(timeout=60)
        time.sleep(rng.uniform(0.0, absent))

    def fail_at(self, point: str) -> bool:
        """A run in which the first process to come to a fail-point dies there; whether one did."""
        once = self.folder / f"killed-{self.kills}"
        process = self.start({"HEADWAY_FAILPOINT": point, "HEADWAY_FAILPOINT_ONCE": str(once)})
        _, talk = process.communicate(timeout=60)
        assert "Traceback" not in talk, talk
        self.kills += 1
        self.settled()
        return once.exists()

    def begun(self) -> int:
        return self.ledger.read_text().count("begin ") if self.ledger.exists() else 0

    def settled(self) -> None:
        """No runner is left, so the store tells all."""
        until(lambda: self.runner() == 0)

    def store(self) -> Store:
        return opened(self.server or self.home / "store.db")

    def attempts(self) -> list[tuple[Any, ...]]:
        """Job, number, host, started, ended, exit code, memory, CPU time, reason."""
        store = self.store()
        found = store.progress.attempts(WorkflowId(1))
        store.close()
        return found

    def violations(self) -> list[str]:
        """What must not be, after the last run."""
        self.settled()
        store = self.store()
        counts = store.progress.counts(WorkflowId(1))
        done = {(str(name), str(number)) for name, number, *_, code, _, _, _ in self.attempts() if code == 0}
        store.close()
        wrong = [] if counts == {State.DONE: self.jobs} else [f"states: {counts}"]
        last: dict[str, str] = {}
        ends: set[tuple[str, str]] = set()
        begins: Counter[str] = Counter()
        for line in self.ledger.read_text().splitlines():
            word, name, attempt, _ = line.split()
            if word == "begin":
                begins[name] += 1
                wrong += [f"{name} ran again after {n} was done" for n in (last.get(name),) if (name, n) in done]
                last[name] = attempt
            elif last[name] != attempt:
                wrong.append(f"{name}: attempt {attempt} ran beside {last[name]}")
            if word == "end":
                ends.add((name, attempt))
        wrong += [f"{name} is recorded done, and attempt {number} did not end" for name, number in done - ends]
        if self.reruns() > SLOTS * self.keeper_kills:
            wrong.append(f"{self.reruns()} runs again for {self.kills} kills, {self.keeper_kills} of them of keepers")
        leftover = [path.name for path in self.home.glob(".store-*")]
        return wrong + [f"left behind: {name}" for name in leftover]

    def reruns(self) -> int:
        return self.begun() - self.jobs
