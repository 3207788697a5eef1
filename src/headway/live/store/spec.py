"""What a job runs, as the store keeps it: its command, or a small JSON object that every placeholder can read."""

from __future__ import annotations

import json
import os
import sys

from headway.live.store.text import encode
from headway.model.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.model.job import Job, Pairs


@record
class Spec:
    """A command line for sh, where it runs, and what it is connected to."""

    command: str
    directory: str | None = None
    environment: Pairs = ()
    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    subdag: str | None = None  # a workflow file that is run in its place
    outputs: tuple[str, ...] = ()  # what is removed if it fails
    again: tuple[str, ...] = ()  # its commands on the first, second, … retry, if they differ

    @classmethod
    def of(cls, job: Job) -> Spec:
        """The spec of a job whose command is known."""
        setting = job.setting
        command = ":" if job.command is None else job.command
        return cls(
            command,
            setting.directory,
            setting.environment,
            setting.stdin,
            setting.stdout,
            setting.stderr,
            None if job.rules.noop else job.rules.subdag,
            () if job.precious else job.outputs,
            tuple(other.command or ":" for other in job.again),
        )

    def at_try(self, tries: int) -> Spec:
        """What it is after so many tries."""
        if not self.again:
            return self
        command = self.again[min(tries, len(self.again)) - 1] if tries else self.command
        return replace(self, command=command, again=())

    def with_command(self, command: str) -> Spec:
        return replace(self, command=command)

    def text(self) -> str:
        """As the store keeps it: only the command where that is all."""
        command = self.command
        if self == Spec(command) and not command.startswith("{") and encode(command) == command != "":
            return command
        said = {
            "command": self.command,
            "directory": self.directory,
            "environment": list(self.environment),
            "stdin": self.stdin,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "subdag": self.subdag,
            "outputs": self.outputs,
            "again": self.again,
        }
        return json.dumps({key: value for key, value in said.items() if value})

    @classmethod
    def read(cls, text: str) -> Spec:
        if not text.startswith("{"):
            return cls(text)
        said = json.loads(text)
        environment = tuple((name, value) for name, value in said.pop("environment", ()))
        for key in ("outputs", "again"):
            if key in said:
                said[key] = tuple(said[key])
        return cls(said.pop("command", ""), environment=environment, **said)


def is_open(text: str) -> bool:
    """Whether a spec, as the store keeps it, leaves something open until it is given out (store.late)."""
    return "\x02" in text or "\\u0002" in text


def with_services(path: str) -> str:
    """A PATH on which a job finds mqstatus, wherever Headway was called from. What is on it already comes first."""
    for program in (sys.argv[0], sys.executable):
        folder = os.path.dirname(os.path.abspath(program))  # noqa: PTH100, PTH120 - a short run waits for this
        if os.access(f"{folder}/mqstatus", os.X_OK):
            return path if folder in path.split(os.pathsep) else f"{path}{os.pathsep}{folder}"
    return path
