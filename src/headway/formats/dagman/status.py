"""The files in which DAGMan tells how far a DAG is: NODE_STATUS_FILE and JOBSTATE_LOG, as other tools read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum

from headway.model.record import field, mutable, record


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


@record
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


STEPS = ("PRE_SCRIPT", "JOB", "POST_SCRIPT")  # of a node, in order


@record
class Trial:
    """One attempt at a process of a node, or at one of its scripts."""

    node: str
    process: int  # 0 where there is only one
    processes: int  # of the node
    tolerated: int  # how many of them may fail
    lease: int
    step: str  # one of STEPS
    started: float | None
    ended: float | None
    exit_code: int | None


@mutable
class _Try:
    """One try at a node: what it has come to."""

    sequence: int  # among all tries of the DAG, in the order they began
    cluster: int | None = None
    step: int = 0
    submitted: set[int] = field(default_factory=set)  # processes
    codes: dict[tuple[int, int], int] = field(default_factory=dict)  # how steps and processes ended


class Tries:
    """The tries at the nodes of a DAG, told apart in the order in which their attempts began."""

    def __init__(self) -> None:
        self._last: dict[str, _Try] = {}
        self._begun = 0
        self.count: Counter[str] = Counter()  # of each node

    def lines(self, trial: Trial) -> Iterator[tuple[int, str]]:
        """What a log of states says of an attempt, each line with its time and without."""
        if trial.started is None:
            return
        own = self._of(trial)
        begun, ended, failed = int(trial.started), trial.ended, trial.exit_code != 0
        tail = f"local - {own.sequence}"
        if trial.step != "JOB":
            place = "-" if trial.step == "PRE_SCRIPT" or own.cluster is None else f"{own.cluster}.0"
            yield begun, f"{trial.node} {trial.step}_STARTED {place} {tail}"
            if ended is not None and trial.exit_code is not None:
                yield int(ended), f"{trial.node} {trial.step}_{'FAILURE' if failed else 'SUCCESS'} {place} {tail}"
            return
        place = f"{own.cluster}.{trial.process}"
        if trial.process not in own.submitted:
            own.submitted.add(trial.process)
            yield begun, f"{trial.node} SUBMIT {place} {tail}"
        yield begun, f"{trial.node} EXECUTE {place} {tail}"
        if ended is not None:
            word = "JOB_EVICTED" if trial.exit_code is None else "JOB_TERMINATED"
            yield int(ended), f"{trial.node} {word} {place} {tail}"
            yield from ((int(ended), f"{trial.node} {word} {tail}") for word in self._whole(trial, own))

    def _of(self, trial: Trial) -> _Try:
        """The try that an attempt is part of: a new one if it goes back to what was ended before."""
        step, at = STEPS.index(trial.step), self._last.get(trial.node)
        if at is None or step < at.step or (step < 2 and (step, trial.process) in at.codes):
            self._begun += 1
            self.count[trial.node] += 1
            at = self._last[trial.node] = _Try(self._begun)
        at.step = step
        if trial.step == "JOB" and at.cluster is None:
            at.cluster = trial.lease
        if trial.exit_code is not None:
            at.codes[step, trial.process] = trial.exit_code
        return at

    @staticmethod
    def _whole(trial: Trial, own: _Try) -> Iterator[str]:
        """How all processes of a node ended, with the last of them."""
        codes = [code for (step, _), code in own.codes.items() if STEPS[step] == "JOB"]
        if trial.exit_code is None or len(codes) < trial.processes:
            return
        failures = [code for code in codes if code]
        yield f"JOB_FAILURE {failures[0]}" if len(failures) > trial.tolerated else "JOB_SUCCESS 0"
