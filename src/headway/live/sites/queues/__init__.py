"""The dialects of batch queues: each builds commands and reads answers, and touches nothing.

Absent from a listing means unknown. What an allocation did is known only from the placeholder in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import Protocol

from headway.model.errors import HeadwayError, UsageError, shown
from headway.model.record import record

_NOT_FOUND = 127  # what a shell ends with that finds no such command
NAMES = {"slurm": "Slurm", "gridengine": "Grid Engine", "htcondor": "HTCondor"}
WHY = {"slurm": "squeue --me", "gridengine": "qstat -j '*'", "htcondor": "condor_q -better-analyze"}  # tells of waits


class Status(Enum):
    """What a queue says of an allocation."""

    QUEUED = "queued"
    RUNNING = "running"
    HELD = "held"  # it will not start by itself
    ENDING = "ending"


@record
class Completed:
    """A command that has ended."""

    code: int
    out: str
    said: str  # on standard error


@record
class Request:
    """What is asked for: cores of a host, or of several, for a time, to run a command there (on the first)."""

    name: str
    cores: int
    seconds: int
    log: str  # where the command's output goes
    options: tuple[str, ...] = ()  # the user's own, as the queue's submit command takes them
    nodes: int = 1  # hosts, with as many cores each


@record
class Listed:
    """An allocation as a queue lists it."""

    id: str
    name: str
    status: Status
    why: str = ""  # it waits, or is held, if the queue says so


class Queue(Protocol):
    """One batch system."""

    launcher: tuple[str, ...]
    """What starts a command on several hosts of an allocation, once on each: words with {nodes} and {cores}.

    None: it grants one host at a time.
    """

    def script(self, request: Request, command: Sequence[str]) -> str:
        """What is submitted."""

    def submit(self, script: str, request: Request) -> list[str]:
        """The command that submits a script, by its path.

        The name comes last, which counts: by it alone an allocation is known again, whatever options or the user's
        environment (SBATCH_JOB_NAME) say.
        """

    def submitted(self, answer: Completed) -> str:
        """The id that the queue gave; HeadwayError: it refused."""

    def listing(self) -> list[str]:
        """The command that lists what waits and runs."""

    def listed(self, answer: Completed) -> list[Listed]:
        """What it lists; HeadwayError: the queue does not answer."""

    def cancel(self, ids: Sequence[str]) -> list[str]:
        """The command that takes allocations back."""


def queue(name: str) -> Queue:
    """The dialect of a batch system."""
    if name not in NAMES:
        raise UsageError(f"there is no queue {shown(name)}.", f"There are {', '.join(NAMES)}.")
    found: Queue = import_module(f"headway.live.sites.queues.{name}").DIALECT
    return found


def refused(system: str, answer: Completed) -> HeadwayError:
    """Why a queue did not do what it was told."""
    if answer.code == _NOT_FOUND:
        return _not_found(system, answer)
    return HeadwayError(
        f"{system} refuses: {_why(answer)}.", "Change the site's options in headway.toml, or ask its operators."
    )


def silent(system: str, answer: Completed) -> HeadwayError:
    """Why a queue could not be asked."""
    if answer.code == _NOT_FOUND:
        return _not_found(system, answer)
    return HeadwayError(f"{system} does not answer: {_why(answer)}.", "It is asked again.")


def _not_found(system: str, answer: Completed) -> HeadwayError:
    where = "of this computer, or if the site has a host, of ssh there (try: ssh HOST 'echo $PATH')"
    return HeadwayError(
        f"the commands of {system} are not there: {_why(answer)}.", f"They must be on the PATH {where}."
    )


def _why(answer: Completed) -> str:
    """The last line that a command has said, beside its advice to read the manual."""
    said = (line.strip() for line in f"{answer.said}\n{answer.out}".splitlines())
    lines = [line for line in said if line and not line.startswith("Try ")]
    return lines[-1].rstrip(".") if lines else f"exit code {answer.code}"
