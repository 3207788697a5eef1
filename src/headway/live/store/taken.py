"""A job that a placeholder gets, on its way from a row to a lease."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.store.text import decode
from headway.model.messages import JobId, Lease, LeaseId, Seconds, WorkflowId
from headway.model.record import mutable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@mutable
class TakenJob:
    """What its lease will say."""

    job: JobId
    name: str
    attempts: int
    cores: int
    time: Seconds | None
    spec: str
    final: bool | None
    memory: int = 0
    kind: int = 0
    step: int = 0
    named: tuple[tuple[str, int], ...] = ()
    settling: tuple[int, ...] = ()

    @classmethod
    def of(cls, found: Sequence[Any], cores: int, named: tuple[tuple[str, int], ...] = ()) -> TakenJob:
        """By the values of an eligible job, with the cores that it gets."""
        job, name, attempts, _, time, spec, final, memory, kind, *_ = found
        return cls(job, name, attempts, cores, time, spec, final, memory, kind, 0, named)

    def lease(self, number: LeaseId, workflow: WorkflowId) -> Lease:
        return Lease(
            number,
            workflow,
            self.job,
            decode(self.name),
            self.attempts + 1,
            self.cores,
            self.spec,
            self.time,
            None if self.final is None else bool(self.final),
            self.memory,
            self.named,
            self.step,
            self.kind,
            self.settling,
        )
