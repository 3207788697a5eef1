"""The files in which DAGMan tells how far a DAG is: NODE_STATUS_FILE and JOBSTATE_LOG, as other tools read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from signal import strsignal

from headway.model.job import PLAIN, Rules
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


def status_text(
    dag: str, nodes: Sequence[NodeLine], now: int, shown_now: str, code: int | None, next_update: int
) -> str:
    """A node status file: one block for the DAG, one for each node, one for the end. `code`: how the DAG ended."""
    return "".join(
        [
            _dag_block(dag, nodes, now, shown_now, code),
            *(_node_block(node) for node in nodes),
            _block(
                [
                    'Type = "StatusEnd"',
                    f"EndTime = {now}",
                    f"NextUpdate = {next_update if code is None else 0}",
                ]
            ),
        ]
    )


def _dag_block(dag: str, nodes: Sequence[NodeLine], now: int, shown_now: str, code: int | None) -> str:
    count = {status: sum(node.status is status for node in nodes) for status in NodeStatus}
    whole = NodeStatus.SUBMITTED
    how = ""
    if code is not None:
        whole, how = (NodeStatus.ERROR, " (failed)") if code else (NodeStatus.DONE, " (success)")
    return _block(
        [
            'Type = "DagStatus"',
            f"DagFiles = {{ {_quoted(dag)} }}",
            f"Timestamp = {now}; /* {_quoted(shown_now)} */",
            f"DagStatus = {int(whole)}; /* {_quoted('STATUS_' + whole.name + how)} */",
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
NO_JOB = "0.2147483647"  # the number of what was never submitted
REMOVED = -1002  # DAGMan's code for a job that was removed


@record
class Trial:
    """One attempt at a process of a node, or at one of its scripts."""

    node: str
    process: int  # 0 where there is only one
    processes: int  # of the node
    rules: Rules  # of the node
    lease: int
    step: str  # one of STEPS
    started: float | None
    ended: float | None
    exit_code: int | None
    removed: bool = False  # it was cancelled
    own: Rules = PLAIN  # of the process

    @property
    def is_put_off(self) -> bool:
        """Whether it is a script that wants to be run again later (DEFER): nothing has come of it."""
        script = {"PRE_SCRIPT": self.rules.pre, "POST_SCRIPT": self.rules.post}.get(self.step)
        return script is not None and script.defer is not None and self.exit_code == script.defer[0]

    @property
    def tolerated(self) -> int:
        """How many processes of the node may fail."""
        tolerance = self.rules.tolerance
        if tolerance is None:
            return 0
        return tolerance.failures * self.processes // 100 if tolerance.percent else tolerance.failures


@mutable
class _Try:
    """One try at a node: what it has come to."""

    sequence: int  # among all tries of the DAG, in the order they began
    cluster: int | None = None
    step: int = 0
    submitted: set[int] = field(default_factory=set)  # processes
    runs: Counter[int] = field(default_factory=Counter)  # of each process
    codes: dict[tuple[int, int], int] = field(default_factory=dict)  # how steps and processes ended
    ended: dict[int, float] = field(default_factory=dict)  # when processes ended

    def failed(self) -> tuple[int, int] | None:
        """The process that failed last, and its exit code."""
        found = [
            (self.ended[process], process, code) for (step, process), code in self.codes.items() if step == 1 and code
        ]
        failures = [one for one in found if one[2] != REMOVED] or found
        return max(failures)[1:] if failures else None


class Tries:
    """The tries at the nodes of a DAG, told apart in the order in which their attempts began."""

    def __init__(self, since: float = 0.0) -> None:
        self._since = since
        self._last: dict[str, _Try] = {}
        self._begun = 0
        self.count: Counter[str] = Counter()  # of each node, those that began since then

    def lines(self, trial: Trial) -> Iterator[tuple[int, str]]:
        """What a log of states says of an attempt, each line with its time and without."""
        if trial.started is None:
            return
        own = self._of(trial)
        begun, ended, tail = int(trial.started), trial.ended, f"local - {own.sequence}"
        if trial.step == "JOB":
            yield from self._job(trial, own, tail)
            return
        place = "-" if trial.step == "PRE_SCRIPT" or own.cluster is None else f"{own.cluster}.0"
        if trial.rules.noop and trial.step == "POST_SCRIPT":
            place = NO_JOB
        yield begun, f"{trial.node} {trial.step}_STARTED {place} {tail}"
        if ended is None or trial.exit_code is None or trial.is_put_off:
            return
        words = [f"{trial.step}_{'FAILURE' if trial.exit_code else 'SUCCESS'} {place}"]
        if trial.step == "POST_SCRIPT":
            words.insert(0, f"POST_SCRIPT_TERMINATED {place}")
        elif trial.exit_code and trial.exit_code == trial.rules.pre_skip:
            words.append(f"PRESKIP {NO_JOB}")
        yield from ((int(ended), f"{trial.node} {word} {tail}") for word in words)

    def _job(self, trial: Trial, own: _Try, tail: str) -> Iterator[tuple[int, str]]:
        """The same of a process. One that HTCondor itself tries again is put off, not over."""
        assert trial.started is not None
        begun, ended, noop = int(trial.started), trial.ended, trial.rules.noop
        place = NO_JOB if noop else f"{own.cluster}.{trial.process}"
        if trial.process not in own.submitted:
            own.submitted.add(trial.process)
            yield begun, f"{trial.node} SUBMIT {place} {tail}"
        if not noop:
            yield begun, f"{trial.node} EXECUTE {place} {tail}"
        if ended is None:
            return
        is_over = (1, trial.process) in own.codes
        words = ["JOB_TERMINATED"] if is_over and not trial.removed else ["JOB_EVICTED"]
        words += ["JOB_ABORTED"] if trial.removed else []
        yield from ((int(ended), f"{trial.node} {word} {place} {tail}") for word in words)
        if is_over and sum(step == 1 for step, _ in own.codes) >= trial.processes:
            code = own.failed()
            failures = sum(bool(code) for (step, _), code in own.codes.items() if step == 1)
            word = "JOB_SUCCESS 0" if code is None or failures <= trial.tolerated else f"JOB_FAILURE {code[1]}"
            yield int(max(own.ended.values())), f"{trial.node} {word} {tail}"

    def _of(self, trial: Trial) -> _Try:
        """The try that an attempt is part of: a new one if it goes back to what was ended before."""
        step, at = STEPS.index(trial.step), self._last.get(trial.node)
        if at is None or step < at.step or (step < 2 and (step, trial.process) in at.codes):
            self._begun += 1
            self.count[trial.node] += (trial.started or 0.0) >= self._since
            at = self._last[trial.node] = _Try(self._begun)
        at.step = step
        if trial.step == "JOB" and at.cluster is None:
            at.cluster = trial.lease
        code = REMOVED if trial.removed else None if trial.is_put_off else trial.exit_code
        if code is not None and not self._is_again(trial, at, code):
            at.codes[step, trial.process] = code
            if step == 1:
                at.ended[trial.process] = trial.ended or 0.0
        return at

    @staticmethod
    def _is_again(trial: Trial, at: _Try, code: int) -> bool:
        """Whether a process runs once more by what its own submit description says (max_retries)."""
        if trial.step != "JOB" or trial.removed:
            return False
        at.runs[trial.process] += 1
        own = trial.own
        return at.runs[trial.process] <= own.retries and code not in (own.success, own.unless_exit)

    def is_removed(self, node: str) -> bool:
        """Whether the last thing that happened to a node is that it was cancelled."""
        at = self._last.get(node)
        failed = None if at is None or at.step != 1 else at.failed()
        return failed is not None and failed[1] == REMOVED

    def gave_up(self, node: str, rules: Rules) -> bool:
        """Whether a node that has failed was not tried again because of UNLESS-EXIT."""
        at = self._last.get(node)
        if at is None or max(0, self.count[node] - 1) >= rules.retries:
            return False
        failed, post = at.failed(), at.codes.get((2, 0))
        last = post if post is not None else failed[1] if failed else at.codes.get((0, 0))
        aborts = rules.abort_on is not None and last == rules.abort_on[0]
        return last == rules.unless_exit and not aborts

    def details(self, node: str, rules: Rules) -> str:
        """Why a node has failed, in DAGMan's words."""
        at = self._last.get(node)
        if at is None:
            return ""
        failed, pre, post = at.failed(), at.codes.get((0, 0)), at.codes.get((2, 0))
        retries, gave_up = max(0, self.count[node] - 1), self.gave_up(node, rules)
        if failed is not None and failed[1] == REMOVED:
            return f"HTCondor reported ULOG_JOB_ABORTED event for job proc ({at.cluster}.{failed[0]}.0)"
        if post is not None and gave_up:
            return f"POST script {_how(post)}"
        if post is not None:
            job = f"Job {_ended(failed[1])}" if failed else "Job failed due to DAGMAN error 0"
            text = f"{job} and POST Script {_how(post)}"
        elif failed is not None:
            how = f"status {failed[1]}" if failed[1] >= 0 else f"signal {-failed[1]}"
            text = f"Job proc ({at.cluster}.{failed[0]}.0) failed with {how}"
        else:
            text = f"PRE Script {_how(pre or 0)}{'' if (pre or 0) >= 0 else f' ({strsignal(-(pre or 0))})'}"
        return text if gave_up or not rules.retries else f"{text} (after {retries} node retries)"


def _how(code: int) -> str:
    return f"failed with status {code}" if code >= 0 else f"died on signal {-code}"


def _ended(code: int) -> str:
    return f"exited with status {code}" if code >= 0 else f"died on signal {-code}"
