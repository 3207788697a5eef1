"""What the readers need of the world, handed in by their callers: formats themselves touch nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.model.record import field, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class World(Protocol):
    """Every method raises InputError where the world says no: a missing file, a script that fails."""

    @property
    def most_nodes(self) -> int:
        """How many nodes a workflow may have that multiplies when it is read."""

    def environment(self, name: str) -> str | None:
        """A variable of the environment."""

    def lines(self, path: str) -> Iterator[str]:
        """The lines of a text file with their ends, unpacked if it is .gz or .xz; bytes that are no UTF-8 survive."""

    def text(self, path: str) -> str:
        """The same as one string."""

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""

    def matches(self, folder: str, pattern: str, kind: str) -> list[str]:
        """The names that fit a pattern, seen from a folder, sorted; kind: files, dirs or any."""

    def make(self, path: str, goals: Sequence[str]) -> str:
        """What GNU make says it would do for the goals, and its database."""

    def describe(self, path: str, arguments: Sequence[str]) -> str:
        """A DAG description script's answers, as JSON."""

    def collect(self, path: str, arguments: Sequence[str]) -> str:
        """The mqsub calls that a shell script makes, as a plain flat script."""

    def build(self, path: str, arguments: Sequence[str]) -> str:
        """The workflow that a Python script builds, as JSON: flat scripts, and what these cannot say."""


class Originals(World, Protocol):
    """A world whose files are to be changed: that takes their very bytes."""

    def raw(self, path: str) -> bytes:
        """A file as it is; one that is packed is an InputError."""

    def identity(self, path: str) -> str:
        """What all names of one file have in common."""


@record
class Rendering:
    """A workflow as text, what of it that format cannot say, and what was met on the way, one sentence each."""

    text: str
    lost: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
