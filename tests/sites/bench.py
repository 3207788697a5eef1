"""A folder with a workflow and sites, and what its jobs have written down."""

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

from tests.infra.hosts import Hosts
from tests.live.ledger import hears, until

SITES = """
[sites.a]
host = "h1"
slots = 2
shared = true

[sites.b]
host = "h2"
slots = 2
shared = true
"""


class Bench:
    """Runs commands as a user does in that folder."""

    def __init__(self, hosts: Hosts, folder: Path) -> None:
        self.hosts, self.folder = hosts, folder
        (folder / "headway.toml").write_text(SITES)
        self._begun: list[subprocess.Popen[str]] = []

    def jobs(self, count: int, seconds: float) -> None:
        """A workflow of jobs that write down that they begin and that they end."""
        command = f"echo begin $HEADWAY_JOB >> ledger; sleep {seconds}; echo end $HEADWAY_JOB >> ledger"
        self.script(*(f"workflow.job('j{number}', {command!r})" for number in range(count)))

    def script(self, *lines: str) -> None:
        text = ["from headway import Workflow", "workflow = Workflow('w')", *lines]
        (self.folder / "w.py").write_text("\n".join(text) + "\n")

    def __call__(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """A command to its end, which must come."""
        done = self.begin(*words)
        out, said = done.communicate(timeout=120)
        assert code in (None, done.returncode), f"{words}: {done.returncode}\n{out}\n{said}\n{self.logs()}"
        return subprocess.CompletedProcess(words, done.returncode, out, said)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headway", *words]
        texts = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun = subprocess.Popen(command, cwd=self.folder, env=self.hosts.environment, **texts)  # type: ignore[call-overload]
        self._begun.append(begun)
        return begun  # type: ignore[no-any-return]

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json").stdout)

    def running(self) -> list[Any]:
        """The jobs that run now; none before a workflow has been submitted."""
        done = self("status", "--json", code=None)
        return [] if done.returncode else json.loads(done.stdout)["running"]

    @property
    def ledger(self) -> Counter[str]:
        """How often each line was written."""
        with contextlib.suppress(FileNotFoundError):
            return Counter((self.folder / "ledger").read_text().splitlines())
        return Counter()

    def wait_for(self, line: str, count: int = 1) -> None:
        """Until so many lines of the ledger begin so."""
        until(lambda: sum(number for text, number in self.ledger.items() if text.startswith(line)) >= count)

    def hears(self, run: subprocess.Popen[str], text: str) -> None:
        hears(run, text)

    def each_once(self, count: int) -> None:
        """Every job began once and ended once."""
        assert self.ledger == Counter(
            {f"{what} j{number}": 1 for number in range(count) for what in ("begin", "end")}
        ), self.logs()

    # --- who is there ------------------------------------------------------------------------------------------------

    def channels(self) -> list[int]:
        return [int(pid) for pid in self._processes() if self._holds(int(pid), "sites")]

    def runners(self) -> list[int]:
        """The runners on the hosts; keepers have no lock."""
        return [pid for pid in self._processes() if self._holds(pid, "-")]

    def connections(self) -> list[int]:
        """The ssh of every channel."""
        found = list[int]()
        for pid in self.channels():
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            found += [int(child) for child in children]
        return found

    def _processes(self) -> list[int]:
        return [int(one.name) for one in Path("/proc").glob("[0-9]*")]

    def _holds(self, pid: int, what: str) -> bool:
        """Whether a process has the lock of a channel of this folder ("sites"), or of a runner that serves it."""
        wanted = [*self.folder.glob(".headway/sites/*/lock")] if what == "sites" else [*self._far_locks()]
        paths = {str(one) for one in wanted}
        with contextlib.suppress(OSError):
            return any(str(handle.readlink()) in paths for handle in Path(f"/proc/{pid}/fd").iterdir())
        return False

    def _far_locks(self) -> list[Path]:
        numbers = {f"{one.stat().st_ino:x}" for one in self.folder.glob(".headway/sites/*")}
        return [
            lock for lock in self.hosts.state.glob("*/lock") if any(f"_{one}-" in lock.parent.name for one in numbers)
        ]

    def kill(self, pids: list[int]) -> None:
        assert pids
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def logs(self) -> str:
        """What channels and runners had to say."""
        files = [*self.folder.glob(".headway/sites/*/runner.log"), *self.hosts.state.glob("*/runner.log")]
        return "\n".join(f"{file}: {file.read_text()}" for file in files)

    def close(self) -> None:
        for one in self._begun:
            one.kill()
            one.communicate()
        for pid in [*self.channels(), *self.runners()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
