"""Rescue files beside a DAGMan file: the newest is where a DAG begins that this store does not know yet."""

from __future__ import annotations

from pathlib import Path

from headway.formats.dagman.rescue import MOST, rescue_name, rescue_number, rescue_text
from headway.live.reading.read import read, write_whole
from headway.live.store import Store
from headway.model.messages import WorkflowId
from headway.model.record import replace
from headway.model.states import State
from headway.model.workflow import Workflow


def rescue_of(workflow: Workflow) -> Path | None:
    """The rescue file that a DAG begins from, if there is one."""
    return _newest(Path(workflow.source)) if workflow.format == "dagman" else None


def rescued(workflow: Workflow, rescue: Path) -> Workflow:
    """The same DAG with what the rescue file says is done."""
    return replace(read(rescue, format="dagman"), source=workflow.source)


def _newest(dag: Path) -> Path | None:
    """The rescue file with the highest number; None if there is none."""
    numbered = [(number, path) for path in _siblings(dag) if (number := rescue_number(dag.name, path.name))]
    return max(numbered)[1] if numbered else None


def write_rescue(workflow: Workflow, store: Store, number: WorkflowId, since: float) -> Path | None:
    """Writes down what is done of a DAG that has not come to its end.

    None if nothing was run since then and the last rescue file says it all.
    """
    dag = Path(workflow.source)
    if not dag.is_file():
        return None
    jobs = store.progress.jobs(number)
    outside = {group.name for group in workflow.special()}  # DAGMan runs these whatever a rescue file says
    done = [job.name for job in jobs if job.state is State.DONE and job.name not in outside]
    failed = [job.name for job in jobs if job.state is State.FAILED]
    text = rescue_text(dag.name, done, failed, len(jobs))
    before = _newest(dag)
    is_told = before is not None and _content(before) == text.encode("utf-8", "surrogateescape")
    if is_told and not any((run.ended or since) >= since for run in store.history.attempts(number)):
        return None
    last = 0 if before is None else rescue_number(dag.name, before.name) or 0
    path = dag.with_name(rescue_name(dag.name, min(MOST, last + 1)))
    write_whole(str(path), text)
    return path


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _siblings(dag: Path) -> list[Path]:
    try:
        return list(dag.parent.iterdir())
    except OSError:
        return []
