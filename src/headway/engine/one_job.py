"""The room of a placeholder that takes one job at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from headway.engine.ready import Candidate, Lane, Room
from headway.model.record import mutable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@mutable
class OneJob(Room):
    """Room for a single job, whatever cores it has; the job gets as many of them as it asks for.

    `refuses`: whether a job cannot be run by such a placeholder; it holds up nobody, and `refused` counts it.
    `look`: how many of the next jobs are looked at, so that there is something behind those that are refused.
    """

    refuses: Callable[[Any], bool] = bool
    look: int = 1
    refused: int = 0
    is_taken: bool = False

    @property
    def most(self) -> int:
        return 0 if self.is_taken else self.look

    def take(
        self,
        candidates: Sequence[Candidate],
        lanes: Mapping[int, Lane] | None = None,
        running: Mapping[str, int] | None = None,
    ) -> list[tuple[Any, int]]:
        """The first that fits. A node that may have processes to open takes no cores, and is no job yet."""
        for candidate in candidates:
            if self.is_taken:
                break
            if self.refuses(candidate.job):
                self.refused += 1
                continue
            found = Room.take(self, [candidate], lanes, running)
            if found:
                self.is_taken = candidate.cores > 0
                return found
        return []
