"""A site as a run uses it: how its host is reached, and how much may run there."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps, loads

from headway.model.messages import Seconds
from headway.model.record import fields, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@record
class Site:
    """A host on which placeholders can be started."""

    name: str
    host: str = ""  # as ssh knows it; "": this computer
    slots: int = 0  # 0: a slot for each core there
    directory: str = ""  # where jobs run there; "": the same paths as here
    stage: tuple[str, ...] = ()  # files and folders of the workflow's folder that all jobs there need
    python: str = ""  # the interpreter there; "": the first one that will do
    ssh_options: tuple[str, ...] = ()
    queue: str = ""  # the batch system there; "": jobs run on the host itself
    allocations: int = 4  # at once, at most
    cores: int = 1  # of each
    time: Seconds = 3600.0  # that each may last
    job_time: Seconds = 0.0  # what a job counts as of which no run time is known
    idle: Seconds = 30.0  # for which a placeholder stays though nothing can come
    look: Seconds = 10.0  # between two looks at the queue
    options: tuple[str, ...] = ()  # for the queue's submit command
    address: str = ""  # HOST or HOST:PORT where nodes reach this computer; "": the host's nodes call it

    def said(self) -> dict[str, str]:
        """Its settings, for a channel; `heard` makes the site of them again."""
        return {name: dumps(getattr(self, name)) for name in fields(self)}

    @classmethod
    def heard(cls, said: Mapping[str, str]) -> Site:
        known: dict[str, Any] = {name: loads(value) for name, value in said.items() if name in fields(cls)}
        for name in ("stage", "ssh_options", "options"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)

    @property
    def is_relayed(self) -> bool:
        """Whether its nodes call its login host, as they may not reach this computer."""
        return bool(self.queue and self.host and not self.address)

    def arguments(self, command: str, *options: str) -> list[str]:
        """What to start here so that a command runs there, connected by its standard input and output."""
        if not self.host:
            return ["sh", "-c", command]
        return ["ssh", *_QUIET, *self.ssh_options, *options, "--", self.host, command]


# Nobody is there to answer questions; a connection that is cut is noticed within fifteen seconds.
_QUIET = [
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
]
