"""All stores and a naive model, side by side: whatever is done, they answer alike."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from headway.engine.ready import Room
from headway.live.store import Store, opened
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, LeaseId, PlaceholderId, WorkflowId
from tests.contracts.conftest import emptied
from tests.contracts.crew import graph


@dataclass
class Model:
    """One workflow, thought through anew at every question."""

    milestone: list[bool]
    arcs: list[tuple[int, int]]
    weak: set[tuple[int, int]]
    ranks: list[int]
    retries: int
    done: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)  # has ended for good at some time
    running: dict[int, int] = field(default_factory=dict)  # job, its lease
    tries: dict[int, int] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    off: set[int] = field(default_factory=set)
    told: set[int] = field(default_factory=set)  # leases that are to end
    late: dict[int, int] = field(default_factory=dict)  # job, a lease that was given back or lost: its end may come

    def settle(self) -> None:
        """Milestones whose parents are done are done."""
        while new := {job for job in self.open() if self.milestone[job] and self.ready(job)}:
            self.done |= new
            self.ended |= new

    def open(self) -> set[int]:
        return set(range(len(self.ranks))) - self.done - self.failed - set(self.running)

    def ready(self, job: int) -> bool:
        return all(
            parent in (self.ended if (parent, child) in self.weak else self.done)
            for parent, child in self.arcs
            if child == job
        )

    def eligible(self) -> list[int]:
        return sorted((job for job in self.open() - self.off if self.ready(job)), key=lambda job: self.ranks[job])

    def finish(self, lease: int, exit_code: int | None) -> bool:
        """Whether it counts."""
        job = next((job for job, held in self.running.items() if held == lease), None)
        if job is None:
            job = next((job for job in self.eligible() if self.late.get(job) == lease), None)
        if job is None:
            return False
        self.running.pop(job, None)
        self.late.pop(job, None)
        if exit_code is None:
            if lease not in self.told:
                self.late[job] = lease
            return True
        self.tries[job] = self.tries.get(job, 0) + 1
        if exit_code and self.tries[job] <= self.retries:
            return True
        (self.failed if exit_code else self.done).add(job)
        self.ended.add(job)
        self.settle()
        return True

    def forget_late(self, jobs: set[int]) -> None:
        self.late = {job: lease for job, lease in self.late.items() if job not in jobs}

    def states(self) -> list[tuple[int, str]]:
        return [(job, self._state(job)) for job in range(len(self.ranks)) if not self.milestone[job]]

    def _state(self, job: int) -> str:
        if job in self.done:
            return "DONE"
        if job in self.failed:
            return "FAILED"
        if job in self.running:
            return "RUNNING"
        return "WAITING" if not self.ready(job) else "DISABLED" if job in self.off else "ELIGIBLE"

    def following(self, jobs: set[int], only: bool) -> set[int]:
        """Jobs and what depends on them, or just the milestones behind them."""
        found = set(jobs)
        while new := {b for a, b in self.arcs if a in found and (self.milestone[b] or not only)} - found:
            found |= new
        return found

    def steer(self, verb: str, jobs: set[int], only: bool) -> bool:
        """Whether it may be."""
        work = {job for job in jobs if not self.milestone[job]}
        if verb == "enable":
            self.off -= work
        elif verb in ("disable", "stop"):
            self.off |= work
            self.forget_late(work)
            self.told |= {self.running[job] for job in work & set(self.running)} if verb == "stop" else set()
        elif (touched := jobs if verb == "done" else self.following(jobs, only)) & set(self.running):
            return False
        elif verb == "done":
            self.failed -= jobs
            self.forget_late(jobs)
            self.done |= jobs
            self.ended |= jobs
            self.settle()
        else:
            self.forget_late(touched)
            self.done -= touched
            self.failed -= touched
            self.ended -= touched
            self.tries = {job: tries for job, tries in self.tries.items() if job not in touched}
            self.settle()
        return True


class Stores(RuleBasedStateMachine):
    """A lease's number in this machine is its place in `leases`, where each store has its own for it."""

    postgres = ""

    def __init__(self) -> None:
        super().__init__()
        emptied(self.postgres)
        self.folder = tempfile.mkdtemp()
        self.places = [":memory:", str(Path(self.folder) / "store.db"), self.postgres]
        self.stores: list[Store] = [opened(place) for place in self.places]
        self.given: list[list[LeaseId]] = []
        self.holder: list[int] = []
        self.now = 0.0
        self.beats = [0.0, 0.0]
        self.since = [0.0, 0.0]  # in touch without a gap
        self.lost: set[int] = set()
        self.after: list[int | None] = [None] * 3  # how far somebody has followed the changes of each store
        self.seen: list[dict[int, str]] = [{}, {}, {}]  # and what they have told

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)

    @initialize(data=st.data(), size=st.integers(1, 7), retries=st.integers(0, 2))
    def submit(self, data: st.DataObject, size: int, retries: int) -> None:
        pairs = [(a, b) for b in range(size) for a in range(b)]
        arcs = sorted(data.draw(st.sets(st.sampled_from(pairs), max_size=12))) if pairs else []
        milestone = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
        weak = {arc for arc in arcs if not milestone[arc[0]] and data.draw(st.booleans(), label=f"{arc} is weak")}
        ranks = data.draw(st.permutations(range(size)))
        order = data.draw(st.permutations(range(size)))  # places in the file are no topological order
        names = [""] * size
        for node in range(size):
            names[order[node]] = f"{'M' if milestone[node] else 'j'}{node}"
        arcs = [(order[a], order[b]) for a, b in arcs]
        weak = {(order[a], order[b]) for a, b in weak}
        submission = graph(names, arcs, weak=sorted(weak), ranks=ranks, retries=retries)
        self.model = Model([name[0] == "M" for name in names], arcs, weak, list(ranks), retries)
        self.model.settle()
        self.workflow = [store.submissions.add(submission, 0.0) for store in self.stores]
        self.placeholders = [[store.placeholders.enter(f"host{n}", n, 0.0) for n in range(2)] for store in self.stores]

    def swapped(self, who: int, ends: list[tuple[int, int | None]], free: int) -> None:
        """The same exchange everywhere, and the same leases come out."""
        self.now += 1
        answers = []
        for at, store in enumerate(self.stores):
            finished = [Finish(self.given[lease][at], code, self.now - 1, self.now) for lease, code in ends]
            answers.append(
                store.leases.exchange(
                    PlaceholderId(self.placeholders[at][who]), finished, Room(free, 9), [self.workflow[at]], self.now
                ).leases
            )
        counted = set[int]()
        for lease, code in ends:
            if lease not in counted and self.model.finish(lease, code):
                counted.add(lease)
        expected = self.model.eligible()[:free]
        for job in expected:
            self.model.attempts[job] = self.model.attempts.get(job, 0) + 1
        for leases in answers:
            assert [(lease.job, lease.attempt) for lease in leases] == [
                (job, self.model.attempts[job]) for job in expected
            ]
        for alike in zip(*answers, strict=True):
            self.model.running[alike[0].job] = len(self.given)
            self.model.late.pop(alike[0].job, None)
            self.given.append([lease.id for lease in alike])
            self.holder.append(who)

    @rule(who=st.integers(0, 1), free=st.integers(1, 4))
    def take(self, who: int, free: int) -> None:
        self.swapped(who, [], free)

    @rule(
        who=st.integers(0, 1),
        free=st.integers(0, 3),
        picks=st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0, 0, 0, 1, None])), max_size=4),
    )
    def finish(self, who: int, free: int, picks: list[tuple[int, int | None]]) -> None:
        """Ends of leases that are held, or were, or have ended already."""
        self.swapped(who, [(pick % len(self.given), code) for pick, code in picks if self.given], free)

    @rule(free=st.integers(0, 3), code=st.sampled_from([0, 1]))
    def finish_all(self, free: int, code: int) -> None:
        self.swapped(0, [(lease, code) for lease in sorted(self.model.running.values())], free)

    @rule(codes=st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=7))
    def work(self, codes: list[int]) -> None:
        """All that can be run is run, one after the other."""
        for code in codes:
            self.swapped(0, [], 1)
            self.swapped(0, [(lease, code) for lease in sorted(self.model.running.values())], 0)

    @rule()
    def retry(self) -> None:
        found = [
            store.submissions.retry_failed(workflow) for store, workflow in zip(self.stores, self.workflow, strict=True)
        ]
        assert found == [len(self.model.failed)] * 3
        for job in self.model.failed:
            self.model.tries[job] = 0
        self.model.failed = set()

    @rule(
        verb=st.sampled_from(["enable", "disable", "stop", "done", "redo", "redo"]),
        first=st.integers(0, 6),
        length=st.integers(0, 3),
        only=st.booleans(),
    )
    def steer(self, verb: str, first: int, length: int, only: bool) -> None:
        first %= len(self.model.ranks)
        last = min(first + length, len(self.model.ranks) - 1)
        may = self.model.steer(verb, set(range(first, last + 1)), only)
        for store, workflow in zip(self.stores, self.workflow, strict=True):
            try:
                store.steering.steer(verb, workflow, [(first, last)], only)
                assert may
            except HeadwayError:
                assert not may

    @rule(who=st.integers(0, 1))
    def beat(self, who: int) -> None:
        self.now += 1
        if self.now - self.beats[who] > 40:
            self.since[who] = self.now
        self.beats[who] = self.now
        self.lost.discard(who)
        for store, placeholders in zip(self.stores, self.placeholders, strict=True):
            store.placeholders.beat(placeholders[who], self.now)

    @rule(who=st.integers(0, 1), beats=st.integers(0, 15))
    def reclaim(self, who: int, beats: int) -> None:
        for _ in range(beats):
            self.now += 9
            self.beat(who)
        other = 1 - who
        is_lost = self.now - self.beats[other] > 120 and self.now - self.since[who] >= 30 and other not in self.lost
        jobs = {job for job, lease in self.model.running.items() if is_lost and self.holder[lease] == other}
        for store, workflow, mine in zip(self.stores, self.workflow, self.placeholders, strict=True):
            assert set(store.placeholders.reclaim(mine[who], self.now)) == {(workflow, job) for job in jobs}
        for job in jobs:
            lease = self.model.running.pop(job)
            if lease not in self.model.told:
                self.model.late[job] = lease
        self.lost |= {other} if is_lost else set()

    @rule()
    def reopen(self) -> None:
        for at in (1, 2):
            self.stores[at].close()
            self.stores[at] = opened(self.places[at])

    @rule()
    def follow(self) -> None:
        """Whoever knows no more than what changes tell knows how every job is."""
        for at, (store, workflow) in enumerate(zip(self.stores, self.workflow, strict=True)):
            found = store.watching.changes(self.after[at], workflow)
            self.after[at] = found.after
            self.seen[at] |= {int(one.job): one.state.name for one in found.jobs}
            states = self.model.states()
            assert [(job, self.seen[at][job]) for job, _ in states] == states

    @invariant()
    def all_agree(self) -> None:
        if not hasattr(self, "model"):
            return
        for store, workflow in zip(self.stores, self.workflow, strict=True):
            assert [(job.job, job.state.name) for job in store.progress.jobs(workflow)] == self.model.states()
            assert store.steering.miscounted(workflow) == []
        told = sorted(self.model.told & set(self.model.running.values()))
        for at, store in enumerate(self.stores):
            found = [
                lease for placeholder in self.placeholders[at] for lease, _ in store.leases.stop_requests(placeholder)
            ]
            assert sorted(found) == sorted(self.given[lease][at] for lease in told)
        events = [[(event.kind, event.job, event.time) for event in store.history.events()] for store in self.stores]
        history = [
            store.progress.attempts(WorkflowId(number))
            for store, number in zip(self.stores, self.workflow, strict=True)
        ]
        assert events[0] == events[1] == events[2] and history[0] == history[1] == history[2]


def test_stores_and_a_naive_model_agree(postgres_url: str) -> None:
    Stores.postgres = postgres_url
    run_state_machine_as_test(
        Stores, settings=settings(max_examples=40, stateful_step_count=30, deadline=None, print_blob=True)
    )
