"""The files in which DAGMan tells how far a DAG is: NODE_STATUS_FILE and JOBSTATE_LOG, as other tools read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum


class NodeStatus(IntEnum):
    """DAGMan's states of a node."""

    NOT_READY = 0
    READY = 1
    PRERUN = 2
    SUBMITTED = 3
    POSTRUN = 4
    DONE = 5
    ERROR = 6
    FUTILE = 7


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One node in a status file."""

    name: str
    status: NodeStatus
    details: str = ""
    retries: int = 0  # so far
    queued: int = 0  # processes


def status_text(dag: str, nodes: Sequence[NodeLine], now: int, shown_now: str, ended: bool, next_update: int) -> str:
    """A node status file: one block for the DAG, one for each node, one for the end."""
    return "".join(
        [
            _dag_block(dag, nodes, now, shown_now, ended),
            *(_node_block(node) for node in nodes),
            _block(
                [
                    'Type = "StatusEnd"',
                    f"EndTime = {now}",
                    f"NextUpdate = {0 if ended else next_update}",
                ]
            ),
        ]
    )


def _dag_block(dag: str, nodes: Sequence[NodeLine], now: int, shown_now: str, ended: bool) -> str:
    count = {status: sum(node.status is status for node in nodes) for status in NodeStatus}
    whole = NodeStatus.SUBMITTED
    if ended:
        whole = NodeStatus.DONE if count[NodeStatus.DONE] == len(nodes) else NodeStatus.ERROR
    return _block(
        [
            'Type = "DagStatus"',
            f"DagFiles = {{ {_quoted(dag)} }}",
            f"Timestamp = {now}; /* {_quoted(shown_now)} */",
            f"DagStatus = {int(whole)}; /* {_quoted('STATUS_' + whole.name)} */",
            f"NodesTotal = {len(nodes)}",
            f"NodesDone = {count[NodeStatus.DONE]}",
            f"NodesPre = {count[NodeStatus.PRERUN]}",
            f"NodesQueued = {count[NodeStatus.SUBMITTED]}",
            f"NodesPost = {count[NodeStatus.POSTRUN]}",
            f"NodesReady = {count[NodeStatus.READY]}",
            f"NodesUnready = {count[NodeStatus.NOT_READY]}",
            f"NodesFailed = {count[NodeStatus.ERROR]}",
            f"NodesFutile = {count[NodeStatus.FUTILE]}",
            "JobProcsHeld = 0",
            "JobProcsIdle = 0",
            f"JobProcsRunning = {sum(node.queued for node in nodes)}",
        ]
    )


def _node_block(node: NodeLine) -> str:
    return _block(
        [
            'Type = "NodeStatus"',
            f"Node = {_quoted(node.name)}",
            f"NodeStatus = {int(node.status)}; /* {_quoted('STATUS_' + node.status.name)} */",
            f"StatusDetails = {_quoted(node.details)}",
            f"RetryCount = {node.retries}",
            f"JobProcsQueued = {node.queued}",
            "JobProcsHeld = 0",
        ]
    )


def _block(lines: Sequence[str]) -> str:
    return "[\n" + "".join(f"  {line}{'' if '; /*' in line else ';'}\n" for line in lines) + "]\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt at a node, or at one of its scripts, as a log of states tells it."""

    node: str
    number: int  # of the lease
    step: str  # PRE_SCRIPT, POST_SCRIPT or JOB
    started: float | None
    ended: float | None
    exit_code: int | None
    sequence: int  # 1 for the first try of the node


def began_lines(trial: Trial) -> Iterator[str]:
    """That it began."""
    if trial.started is None:
        return
    when = int(trial.started)
    if trial.step == "JOB":
        yield f"{when} {trial.node} SUBMIT {trial.number}.0 local - {trial.sequence}"
        yield f"{when} {trial.node} EXECUTE {trial.number}.0 local - {trial.sequence}"
    else:
        yield f"{when} {trial.node} {trial.step}_STARTED - local - {trial.sequence}"


def ended_lines(trial: Trial) -> Iterator[str]:
    """How it ended; one that was given back was evicted."""
    if trial.ended is None:
        return
    when, what = int(trial.ended), "SUCCESS" if trial.exit_code == 0 else "FAILURE"
    if trial.step != "JOB":
        yield f"{when} {trial.node} {trial.step}_{what} - local - {trial.sequence}"
    elif trial.exit_code is None:
        yield f"{when} {trial.node} JOB_EVICTED {trial.number}.0 local - {trial.sequence}"
    else:
        yield f"{when} {trial.node} JOB_TERMINATED {trial.number}.0 local - {trial.sequence}"
        yield f"{when} {trial.node} JOB_{what} {trial.exit_code} local - {trial.sequence}"
