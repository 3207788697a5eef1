"""A folder with a workflow and a site with a batch queue, and what its jobs have written down."""

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

from headway.live.store import Store, opened
from tests.infra.queues import Cluster
from tests.live.ledger import hears, runner_of, until

SITE = """
[sites.cluster]
queue = "{queue}"
allocations = {allocations}
cores = 2
time = "{time}"
idle = "2"
look = "1"
"""


class QueueBench:
    """Runs commands as a user does in that folder."""

    def __init__(self, cluster: Cluster, folder: Path, queue: str, allocations: int = 3, time: str = "10m") -> None:
        self.cluster, self.folder = cluster, folder
        (folder / "headway.toml").write_text(SITE.format(queue=queue, allocations=allocations, time=time))
        self.environment = {**cluster.environment, "XDG_STATE_HOME": str(folder / "state"), "HEADWAY_SILENCE": "5"}
        self._begun: list[subprocess.Popen[str]] = []

    def set(self, **settings: object) -> None:
        """Other settings of the site: texts, numbers, or lists as TOML has them."""
        file = self.folder / "headway.toml"
        lines = [line for line in file.read_text().splitlines() if line.partition(" ")[0] not in settings]
        for name, value in settings.items():
            is_text = isinstance(value, str) and not value.startswith("[")
            lines.append(f'{name} = "{value}"' if is_text else f"{name} = {str(value).lower()}")
        file.write_text("\n".join(lines) + "\n")

    def script(self, *lines: str) -> None:
        text = ["from headway import Workflow", "workflow = Workflow('w')", *lines]
        (self.folder / "w.py").write_text("\n".join(text) + "\n")

    def jobs(self, count: int, seconds: float) -> None:
        """A workflow of jobs that write down that they begin and that they end, and where."""
        command = f"echo begin $HEADWAY_JOB >> ledger; sleep {seconds}; echo end $HEADWAY_JOB >> ledger"
        self.script(f"for n in range({count}): workflow.job(f'j{{n}}', {command!r})")

    def __call__(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """A command to its end, which must come."""
        done = self.begin(*words)
        out, said = done.communicate(timeout=180)
        assert code in (None, done.returncode), f"{words}: {done.returncode}\n{out}\n{said}\n{self.logs()}"
        return subprocess.CompletedProcess(words, done.returncode, out, said)

    def begin(self, *words: str, **more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headway", *words]
        texts = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun = subprocess.Popen(command, cwd=self.folder, env={**self.environment, **more}, **texts)  # type: ignore[call-overload]
        self._begun.append(begun)
        return begun  # type: ignore[no-any-return]

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json").stdout)

    @property
    def ledger(self) -> Counter[str]:
        with contextlib.suppress(FileNotFoundError):
            return Counter((self.folder / "ledger").read_text().splitlines())
        return Counter()

    def wait_for(self, line: str, count: int = 1) -> None:
        until(lambda: sum(number for text, number in self.ledger.items() if text.startswith(line)) >= count)

    def each_once(self, count: int) -> None:
        found = {f"{what} j{number}": 1 for number in range(count) for what in ("begin", "end")}
        assert self.ledger == found, self.logs()

    def store(self) -> Store:
        return opened(self.folder / ".headway/store.db")

    def hears(self, run: subprocess.Popen[str], text: str) -> None:
        hears(run, text)

    @property
    def home(self) -> Path:
        """The folder of the site's process here."""
        return self.folder / ".headway/sites/cluster"

    def logs(self) -> str:
        files = [self.home / "runner.log", *self.folder.glob("state/headway/*/*.log")]
        files += [*self.folder.glob("state/headway/*/home-*/runner.log")]
        return "\n".join(f"{file}: {file.read_text()}" for file in files if file.exists())

    def close(self) -> None:
        for one in self._begun:
            one.kill()
            one.communicate()
        self._cancel_all()
        if pid := runner_of(self.home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            until(lambda: runner_of(self.home) != pid)  # what it asks the queue has an end, too
            self._cancel_all()  # what it had just asked for

    def _cancel_all(self) -> None:
        subprocess.run(self.cluster.cancel_all, env=self.cluster.environment, capture_output=True, check=False)
