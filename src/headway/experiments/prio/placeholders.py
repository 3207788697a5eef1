"""One run on real placeholders: processes that come in batches, ask the store for one job each, run it and go.

It is a process of its own, which imports little, so that a placeholder is there as soon as it is forked.
"""

from __future__ import annotations

import gc
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from headway.engine.ready import Room
from headway.live.placeholder.spawn import spawn
from headway.live.store import opened
from headway.live.store.spec import Spec
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Seconds, WorkflowId
from headway.model.record import asdict, field, mutable, record

_GRACE = 0.1  # seconds before the first batch, so that it is not late
_LINE = 4096  # bytes of messages that are read at once

Times = tuple[Seconds, Seconds]  # from a placeholder's arrival until it has a job, and until the store knows of its end


@record
class Batch:
    """So many placeholders at once, so long after the first."""

    after: Seconds
    size: int


@mutable
class Outcome:
    """What the batches got: counted until the one that took the last job, as in section 4.1."""

    seconds: Seconds = 0.0  # from the first batch to the end of the last job
    batches: int = 0
    stalled: int = 0  # batches for which there was no job
    requests: int = 0
    jobs: int = 0
    times: list[Times] = field(default_factory=list)  # of every job


def outcome(place: str, workflow: WorkflowId, jobs: int, batches: Sequence[Batch]) -> Outcome:
    """Lets the batches come until a workflow of so many jobs is done."""
    question = {"place": place, "workflow": workflow, "jobs": jobs}
    question["batches"] = [(batch.after, batch.size) for batch in batches]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", __name__], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        raise HeadwayError(f"the placeholders have failed: {why or f'exit code {done.returncode}'}")
    return Outcome(**json.loads(done.stdout))


class _Crew:
    """The placeholders of one run, and what they tell."""

    def __init__(self, place: str, workflow: WorkflowId) -> None:
        self._place = place
        self._workflow = workflow
        self._hears, self._tells = os.pipe()
        self._heard = b""
        self._children: set[int] = set()
        self.taken: dict[int, int] = {}  # jobs, by the batch that took them
        self.times: list[Times] = []

    def arrive(self, batch: int, size: int, due: Seconds) -> None:
        """Starts the placeholders of a batch."""
        for _ in range(size):
            child = os.fork()
            if not child:
                self._be_placeholder(batch, due)
            self._children.add(child)

    def _be_placeholder(self, batch: int, arrived: Seconds) -> None:
        """One request, one job at most; never returns."""
        code = 1
        try:
            for times in worked(self._place, self._workflow, arrived):
                os.write(self._tells, b" ".join([b"%d" % batch, *(b"%.6f" % seconds for seconds in times)]) + b"\n")
            code = 0
        finally:
            os._exit(code)

    def hear(self, until: Seconds) -> None:
        """Listens until then, or until there is something to hear."""
        if select.select([self._hears], [], [], max(0.0, until - time.time()))[0]:
            *lines, self._heard = (self._heard + os.read(self._hears, _LINE)).split(b"\n")
            for line in lines:
                batch, *times = line.split()
                if times:
                    self.times.append((float(times[0]), float(times[1])))
                else:
                    self.taken[int(batch)] = self.taken.get(int(batch), 0) + 1
        self._reap()

    def _reap(self) -> None:
        while self._children:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            self._children.discard(child)
            if status:
                raise HeadwayError(f"a placeholder has ended with {os.waitstatus_to_exitcode(status)}.")

    def go_home(self, jobs: int) -> None:
        """Waits until all have left, and all they said was heard."""
        while self._children or len(self.times) < jobs:
            self.hear(time.time() + 0.05)


def worked(place: str, workflow: WorkflowId, arrived: Seconds) -> Iterator[tuple[Seconds, ...]]:
    """What a placeholder does. It yields nothing when it gets a job, and its times when that is done."""
    store = opened(place)
    me = store.placeholders.enter(os.uname().nodename, os.getpid(), time.time())
    for lease in store.leases.exchange(me, [], Room(1, 1), [workflow], time.time()).leases:
        started = time.time()
        yield ()
        job = spawn(Spec.read(lease.spec), os.environb, os.devnull)
        _, status = os.waitpid(job, 0)
        finish = Finish(lease.id, os.waitstatus_to_exitcode(status), started, time.time())
        store.leases.exchange(me, [finish], Room(0, 1), [workflow], time.time())
        yield started - arrived, time.time() - arrived
    store.placeholders.leave(me, time.time())
    store.close()


def _run(place: str, workflow: WorkflowId, jobs: int, batches: Sequence[Batch]) -> Outcome:
    for _ in worked(place, WorkflowId(-1), time.time()):  # imports what a placeholder needs; there is no such workflow
        raise AssertionError
    gc.freeze()
    crew = _Crew(place, workflow)
    begun = time.time() + _GRACE
    for number, batch in enumerate(batches):
        crew.hear(begun + batch.after)
        while time.time() < begun + batch.after and sum(crew.taken.values()) < jobs:
            crew.hear(begun + batch.after)
        if sum(crew.taken.values()) == jobs:
            break
        crew.arrive(number, batch.size, begun + batch.after)
    else:
        raise HeadwayError(f"after {len(batches)} batches there still are jobs.")
    crew.go_home(jobs)
    last = max(crew.taken)
    store = opened(place)
    ended = [attempt.ended or 0.0 for attempt in store.history.attempts(workflow) if attempt.exit_code == 0]
    if len(ended) != jobs:
        raise HeadwayError(f"{jobs - len(ended)} jobs have not been done.")
    return Outcome(
        seconds=max(ended) - begun,
        batches=last + 1,
        stalled=sum(number not in crew.taken for number in range(last + 1)),
        requests=sum(batch.size for batch in batches[: last + 1]),
        jobs=jobs,
        times=crew.times,
    )


def _main() -> None:
    question = json.load(sys.stdin)
    batches = [Batch(*batch) for batch in question["batches"]]
    try:
        found = _run(question["place"], WorkflowId(question["workflow"]), question["jobs"], batches)
    except HeadwayError as error:
        sys.exit(str(error))
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    _main()
