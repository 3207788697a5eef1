"""Small workflows by letter, and a placeholder to drive a store with."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headway.engine.intake import Outside
from headway.engine.ready import Room
from headway.formats.flat import parse
from headway.live.store import Store, opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat, flatten
from headway.model.job import Job, Resources, Rules
from headway.model.messages import Finish, JobId, Lease, PlaceholderId, WorkflowId
from headway.model.states import Kind, State
from headway.model.workflow import Workflow
from tests.texts import Texts

_clock = itertools.count(1000)


def graph(
    names: Sequence[str],
    arcs: Sequence[tuple[int, int]],
    *,
    weak: Sequence[tuple[int, int]] = (),
    ranks: Sequence[int] | None = None,
    retries: int = 0,
    cores: Mapping[str, int] | None = None,
    source: str = "/flow.dag",
) -> Submission:
    """A workflow by numbers; names that start with a capital are milestones."""
    jobs = [
        None
        if name[0].isupper()
        else Job("true", rules=Rules(retries=retries), resources=Resources(cores=(cores or {}).get(name, 1), time=60.0))
        for name in names
    ]
    dag = Dag(names, [a for a, _ in arcs], [b for _, b in arcs], milestones=bytes(job is None for job in jobs))
    flat = Flat(dag, jobs, frozenset(weak))
    return Submission("flow", source, "/somewhere", flat, ranks if ranks is not None else [0] * len(names))


def flow(
    letters: str,
    *arcs: str,
    ranks: Sequence[int] | None = None,
    retries: int = 0,
    cores: Mapping[str, int] | None = None,
    source: str = "/flow.dag",
) -> Submission:
    """The same by letters: an arc is two of them, weak with a ~ behind."""
    pairs = [(letters.index(arc[0]), letters.index(arc[1])) for arc in arcs]
    weak = [pair for pair, arc in zip(pairs, arcs, strict=True) if arc.endswith("~")]
    return graph(list(letters), pairs, weak=weak, ranks=ranks, retries=retries, cores=cores, source=source)


def groups(text: str, source: str = "/flow.sh") -> Submission:
    """A workflow of groups, by lines of mqsub."""
    return submission(parse("flow.sh", Texts({"flow.sh": text})), source=source)


def submission(workflow: Workflow, *outside: tuple[Kind, str], source: str = "/flow.sh") -> Submission:
    """A workflow as it goes into a store, and nodes outside its order."""
    flat = flatten(workflow)
    beside = Outside([(kind, name, Job("true")) for kind, name in outside], dict(workflow.throttles))
    return Submission("flow", source, "/somewhere", flat, [0] * len(flat.jobs), beside)


def layered(layers: int, width: int) -> tuple[Submission, list[tuple[int, int]]]:
    """Layers of jobs that share children, every second one behind a milestone; and its arcs between jobs."""
    chance = random.Random(7)
    names, arcs, before = list[str](), set[tuple[int, int]](), list[list[int]]()
    reached: list[tuple[int, int]] = []
    for layer in range(layers):
        if layer % 2 and layer:
            names.append(f"M{layer}")
            milestone = len(names) - 1
            arcs |= {(parent, milestone) for parent in before[-1]}
        nodes = list(range(len(names), len(names) + width))
        names += [f"j{node}" for node in nodes]
        for node in nodes if layer else ():
            if layer % 2:
                arcs.add((milestone, node))
                reached += [(parent, node) for parent in before[-1]]
            else:
                chosen = [(parent, node) for parent in chance.sample(before[-1], 3)]
                arcs |= set(chosen)
                reached += chosen
        before.append(nodes)
    return graph(names, sorted(arcs)), reached


@dataclass
class Crew:
    """A placeholder at work on one workflow."""

    store: Store
    workflow: WorkflowId
    host: str = "here"
    placeholder: PlaceholderId = field(init=False)
    leases: dict[str, Lease] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.placeholder = self.store.placeholders.enter(self.host, 1, next(_clock))

    @classmethod
    def on(cls, place: str, submission: Submission) -> Crew:
        """At an empty store with one workflow in it."""
        store = opened(place)
        return cls(store, store.submissions.add(submission, next(_clock)))

    def take(self, want: int = 1, slots: int = 100, ahead: int = 0) -> list[str]:
        """The names of the jobs that it gets."""
        return self.swap([], want, slots, ahead)

    def swap(self, finished: Sequence[Finish], want: int, slots: int = 100, ahead: int = 0) -> list[str]:
        room = Room(want, slots, ahead)
        leases = self.store.leases.exchange(
            self.placeholder, finished, room, [self.workflow], float(next(_clock))
        ).leases
        self.leases |= {lease.name: lease for lease in leases}
        return [lease.name for lease in leases]

    def finish(self, name: str, exit_code: int | None = 0) -> Finish:
        now = float(next(_clock))
        return Finish(self.leases[name].id, exit_code, now - 0.5, now, 4096, 0.25, "" if exit_code == 0 else "so")

    def end(self, *names: str, exit_code: int | None = 0) -> None:
        """They end, in one exchange."""
        self.swap([self.finish(name, exit_code) for name in names], 0)

    def run(self, *names: str, exit_code: int = 0) -> None:
        """Takes just these, in this order, and ends them one by one."""
        for name in names:
            assert self.take() == [name]
            self.end(name, exit_code=exit_code)

    def lost(self, now: float) -> list[tuple[WorkflowId, JobId]]:
        """The jobs of others that it takes for lost, once it has been in touch for long enough."""
        for at in range(121, 0, -10):
            self.store.placeholders.beat(self.placeholder, now - at)
        return self.store.placeholders.reclaim(self.placeholder, now)

    def over(self) -> tuple[tuple[WorkflowId, ...], tuple[WorkflowId, ...]]:
        """Whether its workflow is over, or stuck, as it is told; it takes nothing."""
        room = Room(1, 1, named={}, is_whole=True)
        answer = self.store.leases.exchange(
            self.placeholder, [], room, [self.workflow], float(next(_clock)), idle=[self.workflow]
        )
        assert not answer.leases
        return answer.over, answer.stuck

    def states(self) -> str:
        return states(self.store, self.workflow)

    def steer(self, verb: str, *names: str, only: bool = False) -> str:
        """Steers jobs by name; the names of those that this changed, as one word."""
        places = {job.name: job.job for job in self.store.progress.jobs(self.workflow)}
        ranges = [(places[name], places[name]) for name in names]
        changed, _ = self.store.steering.steer(verb, self.workflow, ranges, only)
        assert self.store.steering.miscounted(self.workflow) == []
        return " ".join(changed)


def states(store: Store, workflow: WorkflowId) -> str:
    """w waiting, e eligible, r running, d done, f failed, l later, x disabled: as in "a:d b:e"."""
    letter = {State.DISABLED: "x"}
    return " ".join(
        f"{job.name}:{letter.get(job.state, job.state.name[0].lower())}" for job in store.progress.jobs(workflow)
    )


def all_done(store: Store, workflow: WorkflowId) -> bool:
    return set(store.progress.counts(workflow)) == {State.DONE}
