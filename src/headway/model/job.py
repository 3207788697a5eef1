"""A job: one command line, and all that is known of it.

A million of them must fit into memory, so what most jobs share (resources, rules, settings) are frozen objects that
they point to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headway.model.messages import NODES
from headway.model.record import field, mutable, record
from headway.model.states import Step

Pairs = tuple[tuple[str, str], ...]


class _Nothing(Mapping[str, str]):
    """A mapping that is empty and stays so; copies and pickles of it are itself, since it is known by identity."""

    __slots__ = ()

    def __getitem__(self, key: str) -> str:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __reduce__(self) -> str:
        return "NO_ATTRIBUTES"


NO_ATTRIBUTES: Mapping[str, str] = _Nothing()


@record
class Resources:
    """What a job needs while it runs. `time` is its limit in seconds, `memory` is in bytes."""

    cores: int = 1
    memory: int | None = None
    time: float | None = None
    named: tuple[tuple[str, int], ...] = ()  # licences, GPUs: name and how many
    nodes: int = 1  # hosts that it runs on at once, with `cores` on each

    @property
    def counted(self) -> tuple[tuple[str, int], ...]:
        """All that is counted by name, the hosts of a job of several among them."""
        return self.named if self.nodes == 1 else (*self.named, (NODES, self.nodes))


@record
class Setting:
    """Where a command runs and what it is connected to; None means the workflow's own choice."""

    directory: str | None = None
    environment: Pairs = ()
    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None


@record
class Script:
    """A script around a node: DAGMan's PRE, POST and HOLD."""

    command: str
    defer: tuple[int, int] | None = None  # exit status that means "again later", and seconds until then
    debug: tuple[str, str] | None = None  # file, and STDOUT, STDERR or ALL
    directory: str | None = None  # where it runs; None: where the workflow does


@record
class Tolerance:
    """How many of a node's processes may fail before the node has failed."""

    failures: int
    percent: bool = False
    fail_fast: bool = False


@record
class Rules:
    """How the engine treats a job beyond its order: retries, scripts, throttles."""

    retries: int = 0
    unless_exit: int | None = None
    priority: int = 0
    category: str | None = None
    pre: Script | None = None
    post: Script | None = None
    hold: Script | None = None
    pre_skip: int | None = None
    abort_on: tuple[int, int | None] | None = None  # exit status, and what the workflow then returns
    tolerance: Tolerance | None = None
    save_point: str | None = None
    noop: bool = False
    done: bool = False
    back_off: float = 0.0  # seconds before the first retry; each next one waits twice as long
    more_memory: float = 1.0  # by what its memory grows with each retry
    subdag: str | None = None  # the file of a DAG that runs in this job's place
    success: int = 0  # the exit code that counts as one

    @property
    def begins(self) -> Step:
        """The first step, each time the job is tried."""
        return Step.MAIN if self.pre is None else Step.PRE


ORDINARY = Resources()
HERE = Setting()
PLAIN = Rules()


@mutable
class Job:
    """One command line, run by sh; or a submit description and the variables that fill it."""

    command: str | None = None
    seconds: float | None = None  # expected run time
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES)
    resources: Resources = ORDINARY
    setting: Setting = HERE
    rules: Rules = PLAIN
    description: str = ""  # a submit file's path, or a key of Workflow.descriptions
    variables: Pairs = ()  # read before the description, which may overrule them
    overrides: Pairs = ()  # read after it
    parts: tuple[Job, ...] = ()  # processes that it consists of, if it is more than one
    again: tuple[Job, ...] = ()  # what it is on its first, second, … retry, if that differs

    @property
    def release(self) -> bool:
        """Early release: once this job is done, groups that wait for its group may go on."""
        return self.attributes is not NO_ATTRIBUTES and self.attributes.get("release") == "yes"

    @property
    def affinity(self) -> bool:
        """Affinity: to run on the host of the previous job of its group."""
        return self.attributes is not NO_ATTRIBUTES and self.attributes.get("affinity") == "yes"

    @property
    def precious(self) -> bool:
        """Its outputs stay even if it fails."""
        return self.attributes is not NO_ATTRIBUTES and self.attributes.get("precious") == "yes"
