"""What a job's spec leaves open until it is given out: the number of its submission, random choices.

All of it follows from the attempt, so those who ask later (`headway logs`, `status`) get the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.formats.submit.late import EDGE, Draw, filled
from headway.live.store.spec import Spec
from headway.model.messages import JobId, WorkflowId
from headway.model.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headway.live.store.database import Database

_APART = 10**15  # between the numbers of one workflow and those of the next


def closed(
    database: Database,
    workflow: WorkflowId,
    job: JobId,
    number: int,
    spec: Spec,
    more: Mapping[str, Callable[[], object]] | None = None,
) -> Spec:
    """The spec of a job's attempt of that number, with everything filled in; `more` is what else is known now."""
    known: dict[str, Callable[[], object]] = {
        "CLUSTER": lambda: cluster(database, workflow, job),
        "WORKFLOW": lambda: workflow,
        **(more or {}),
    }
    draw = _drawing(f"{database.id}.{workflow}.{job}.{number}")

    def said(text: str) -> str:
        return filled(text, known, draw) if EDGE in text else text

    def perhaps(text: str | None) -> str | None:
        return None if text is None else said(text)

    return replace(
        spec,
        command=said(spec.command),
        directory=perhaps(spec.directory),
        environment=tuple((name, said(value)) for name, value in spec.environment),
        stdin=perhaps(spec.stdin),
        stdout=perhaps(spec.stdout),
        stderr=perhaps(spec.stderr),
        outputs=tuple(map(said, spec.outputs)),
    )


def cluster(database: Database, workflow: WorkflowId, job: JobId) -> int:
    """The number of the submission that a job is part of: HTCondor's $(Cluster).

    Each node has another, and another one each time it is submitted; its processes, and its scripts, share it.
    """
    ((_, _, _, _, _, _, _, _, arrival, _),) = database.run("job", workflow=workflow, job=job)
    owner = [one for (one,) in database.run("owner", workflow=workflow, job=job) if one is not None]
    ((size,),) = database.run("size", workflow=workflow)
    return int((workflow - 1) * _APART + arrival * size + (owner[0] if owner else job) + 1)


def _drawing(seed: str) -> Draw:
    """Numbers as good as random that are the same whenever they are drawn for one attempt."""

    def draw(where: str, below: int) -> int:
        from hashlib import blake2b

        return int.from_bytes(blake2b(f"{seed}.{where}".encode(), digest_size=16).digest()) % below

    return draw
