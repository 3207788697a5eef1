"""What follows from a step beyond the rows of jobs, written inside its transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from headway.engine.progress import Changes, Key, Node
from headway.live.store.text import encode
from headway.model.messages import Finish, LeaseId, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database


def write_consequences(database: Database, changes: Changes, is_special: Callable[[WorkflowId], bool]) -> None:
    """Nodes, workflows that end, attempts that are to end, jobs that began too early."""
    write_nodes(database, changes.nodes)
    for workflow in changes.renewed:
        if is_special(workflow):
            database.run("renew_failed", workflow=workflow)
    for (workflow, job), factor in changes.grown:
        database.run("grow", workflow=workflow, job=job, factor=factor)
    for workflow, parent in changes.counted:
        database.run("count_arcs", workflow=workflow, parent=parent)
    for workflow, (how, returns) in changes.aborts.items():
        database.run("halt", workflow=workflow, halted=int(how), returns=returns)
        changes.stops += [LeaseId(lease) for (lease,) in database.run("running", workflow=workflow)]
    for lease in changes.stops:
        database.run("stop", lease=lease, reason=encode("its workflow or node has failed"))
    for (workflow, job), because in changes.premature_starts:
        database.run("add_doubt", workflow=workflow, job=job, because=because)


def write_nodes(database: Database, nodes: Mapping[Key, Node]) -> None:
    """Steps, results and counters of nodes."""
    if nodes:
        database.many(
            "change_node",
            [
                {
                    "workflow": workflow,
                    "job": job,
                    "step": int(own.step),
                    "result": own.result,
                    "pre_result": own.pre_result,
                    "not_before": own.not_before,
                    "parts_left": own.parts_left,
                    "parts_failed": own.parts_failed,
                }
                for (workflow, job), own in nodes.items()
            ],
        )


def write_renewed(database: Database, changes: Changes) -> None:
    """Workflows that do not return any more what a job made them return."""
    for workflow in changes.renewed:
        database.run("renew", workflow=workflow)


def note_refused(database: Database, refused: Sequence[Finish], now: float) -> None:
    """Notes results of stale leases; one that is only told twice (a spool read again) is nothing to note."""
    notes = list[tuple[object, ...]]()
    for finish in refused:
        found = database.run("attempt", lease=finish.lease)
        workflow, job, ended, exit_code = found[0] if found else (None, None, None, None)
        if finish.exit_code is None or (found and ended is not None and exit_code == finish.exit_code):
            continue
        why = "is stale" if found else "was never given"
        notes.append((now, "refused", workflow, job, f"exit code {finish.exit_code}: lease {finish.lease} {why}"))
    note_events(database, notes)


def note_events(database: Database, notes: Sequence[tuple[object, ...]]) -> None:
    """Each is time, kind, workflow, job and text."""
    if notes:
        database.run("before_events")
    for at, kind, workflow, job, text in notes:
        database.run("add_event", time=at, kind=kind, workflow=workflow, job=job, text=text)
