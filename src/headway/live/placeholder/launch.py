"""How a job is started: noted first, so that the next runner knows of it whenever this one dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence

from headway.live.failpoint import failpoint
from headway.live.home.folder import Home
from headway.live.placeholder.outputs import Output, Outputs
from headway.live.placeholder.partial_outputs import Looks, existed
from headway.live.placeholder.roster import NESTED, Roster
from headway.live.placeholder.spawn import spawn
from headway.live.store.spec import Spec
from headway.model.messages import Lease

LATELY = 0.01  # seconds for which we need not look again whether all is in its place


class Launch:
    """Where jobs begin: in which folder, with which output, at which place of the roster."""

    def __init__(self, home: Home, roster: Roster, outputs: Outputs) -> None:
        self._home, self._roster = home, roster
        self.outputs = outputs
        self._keeper = parent if (parent := os.getppid()) > 1 else 0
        self._place = ""  # where this process is

    def started(
        self,
        lease: Lease,
        spec: Spec,
        directory: str,
        environment: Mapping[bytes, bytes],
        now: float,
        before: Mapping[str, Looks | None] | None,
    ) -> tuple[int, Output, int]:
        """The pid of a new job, where it writes, and its place. An output that somebody has removed is made again."""
        place = os.path.join(directory, spec.directory) if spec.directory else directory  # noqa: PTH118 - a hot path
        if place != self._place:
            self._place = ""
            self._home.verify(LATELY)  # another folder may have taken the place of one that was moved
            os.chdir(place)
            self._place = place
        told = 0 if spec.subdag is None else NESTED
        there = 0 if before is None else existed(before)
        while True:
            output = self.outputs.take()
            noted, up = 0, time.clock_gettime(time.CLOCK_BOOTTIME)
            try:
                noted = self._roster.begin(lease.id, up, now, output.number, there, self._keeper, lease.cores, told)
                pid = spawn(spec, environment, output.path)
                failpoint("spawn.unnoted")
                return pid, output, noted
            except (OSError, ValueError) as error:
                if noted:
                    self._roster.strike(noted)
                if not isinstance(error, FileNotFoundError) or not self.outputs.is_lost(output):
                    self.outputs.give_back(output)
                    raise
                self.outputs.drop(output)
                self._home.verify()

    def forget_place(self) -> None:
        """Forgets the current directory: a job may have replaced it, so the next one changes into it again."""
        self._place = ""


def spread_command(command: str, launcher: Sequence[str], nodes: int, cores: int) -> str:
    """The command that runs another one on several hosts of this allocation at once."""
    from shlex import join

    words = [word.replace("{nodes}", str(nodes)).replace("{cores}", str(cores)) for word in launcher]
    return join([*words, "/bin/sh", "-c", command])


def nested_command(file: str, lease: Lease, slots: int, named: Mapping[str, int]) -> str:
    """The command that runs a workflow in a job's place, in the same store; on a retry, what failed of it."""
    words = [sys.executable, "-P", "-m", "headway", "run", file]  # the store is in its environment
    words += ["--in-place-of", f"{lease.workflow}.{lease.job}", "--edited", "rerun", "--slots", str(slots)]
    for name, count in named.items():
        words += ["--resource", f"{name}={count}"]
    from shlex import join

    return join([*words, *(["--retry"] if lease.attempt > 1 else [])])
