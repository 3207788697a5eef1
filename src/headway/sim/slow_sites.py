"""The world of sites.py once more: plain, slow, an event at a time, on a store in memory.

Who is eligible, what is tried again and what has failed is what the engine says, and the policy is any function. The
kernel must measure the same from the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from headway.engine.intake import Intake
from headway.engine.memory import Memory
from headway.engine.ready import Room
from headway.model.flatten import Flat
from headway.model.job import Job, Resources, Rules
from headway.model.messages import Finish, Lease
from headway.policies.where import View, Where
from headway.policies.where.patience import elsewhere, runs_out
from headway.policies.where.seen import began, ended, failed, nothing_seen, sent, withdrawn
from headway.sim.heap import Heap
from headway.sim.kernels.numbers import Words, exponential, normal, seed, uniform
from headway.sim.kernels.site_parts import MOST_MOVES
from headway.sim.kernels.sites import CHOICES, FAILURES, LOADS, RETURNS, TIMES

if TYPE_CHECKING:
    from headway.sim.sites import Model, Place, Strategy

_ALL = 2**31  # slots: whatever is eligible is planned


class Stream:
    """Random numbers of a run, for a policy as well."""

    def __init__(self, key: int, number: int) -> None:
        self.state: Words = np.empty(4, np.uint64)
        seed(self.state, np.uint64(key), number)

    def random(self) -> float:
        return uniform(self.state)


class Queue:
    """A site: what other people take of it, and who of ours waits and runs."""

    def __init__(self, place: Place, stream: Stream) -> None:
        self.place, self._stream = place, stream
        self.is_full = stream.random() < place.load.full
        self.theirs = 0
        self.ours = 0
        self.waiting: list[Attempt] = []

    def spell(self) -> float:
        """Draws how many processors other people take, and for how long."""
        load, processors = self.place.load, self.place.site.processors
        if self.is_full:
            self.theirs, mean = processors, load.spell
        else:
            share = load.low + (load.high - load.low) * self._stream.random()
            self.theirs, mean = math.floor(share * processors), load.open_spell
        return math.inf if mean == math.inf else mean * exponential(self._stream.state)

    def has_room(self, cores: int) -> bool:
        return cores <= self.place.site.processors - self.theirs - self.ours


class Attempt:
    """A job that is to be planned, or waits at a site, or runs there."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.site = self.avoided = -1
        self.queued = self.began = 0.0
        self.turn = 0
        self.has_begun = False


class Run:
    """One run of a workflow."""

    def __init__(self, model: Model, policy: Where, strategy: Strategy, key: int, number: int) -> None:
        self._model, self._policy, self._strategy = model, policy, strategy
        self._work, self._world = model.work, model.world
        places = self._world.places
        streams = (LOADS + len(places)) * number
        times, self._choices = Stream(key, streams + TIMES), Stream(key, streams + CHOICES)
        self._failures, self._returns = Stream(key, streams + FAILURES), Stream(key, streams + RETURNS)
        spread = self._world.spread
        self._chance = [
            (
                max(0.0, 1.0 + spread * normal(times.state)),
                max(0.0, 1.0 + spread * normal(times.state)),
                exponential(times.state),
            )
            for _ in model.load.seconds
        ]
        self._heap, self._store = Heap(), Memory()
        self._workflow = self._store.add(_intake(model))
        self._queues = [Queue(place, Stream(key, streams + LOADS + at)) for at, place in enumerate(places)]
        self._seen = nothing_seen(len(places), strategy.half_life)
        self._processors = [float(place.site.processors) for place in places]
        self._made_at: dict[int, int] = {}
        self._planner = self._makespan = self._waited = 0.0
        self._in_hand = self._done = self._failed = self._withdrawn = self._starts = 0
        self.ends = np.full(len(model.load.seconds), np.nan)
        self.ran_at = [0] * len(places)
        self.planned: list[Attempt] = []  # in order; one that is withdrawn stands there again

    def measured(self) -> tuple[float, ...]:
        """Execution time, jobs done, failed, withdrawals, mean time in queues."""
        for at, queue in enumerate(self._queues):
            self._change_after(at, queue.spell())
        self._tell([])
        while self._in_hand:
            self._heap.step()
        waited = self._waited / max(self._starts, 1)
        return self._makespan, self._done, self._failed, self._withdrawn, waited

    def _change_after(self, site: int, seconds: float) -> None:
        if seconds < math.inf:
            self._heap.after(seconds, partial(self._change, site))

    def _change(self, site: int) -> None:
        queue = self._queues[site]
        if queue.place.load.full:
            queue.is_full = not queue.is_full
        self._change_after(site, queue.spell())
        self._begin(site)

    def _tell(self, finished: Sequence[Finish]) -> None:
        """Attempts that ended go to the store, and what may run by now is to be planned."""
        answer = self._store.exchange(finished, Room(_ALL, _ALL), [self._workflow], self._heap.now)
        for lease in answer.leases:
            self._plan_later(Attempt(lease))

    def _plan_later(self, attempt: Attempt) -> None:
        when = max(self._heap.now, self._planner)
        self._planner = when + self._world.planning
        self._in_hand += 1
        self._heap.at(when, partial(self._plan, attempt))

    def _plan(self, attempt: Attempt) -> None:
        """Chooses a site, and sends the job there."""
        now, job = self._heap.now, attempt.lease.job
        _, moving, delay = self._chance[job]
        everywhere = self._candidates(job)
        candidates = elsewhere(everywhere, attempt.avoided) if attempt.avoided >= 0 else everywhere
        view = View(candidates, self._seen, self._processors, self._present(job))
        site = attempt.site = self._policy(view, now, self._choices)
        sent(self._seen, site)
        self.planned.append(attempt)
        queued = attempt.queued = now + self._transfer(job, site) * moving
        place, turn = self._queues[site].place, attempt.turn
        if turn or attempt.lease.attempt > 1:
            delay = exponential(self._returns.state)
        self._heap.at(queued + place.latency * delay, partial(self._ready, attempt, turn))
        gives_up = runs_out(queued, self._strategy.patience)
        if gives_up < math.inf and elsewhere(everywhere, site) and turn < MOST_MOVES:
            self._heap.at(gives_up, partial(self._give_up, attempt, turn))

    def _candidates(self, job: int) -> list[int]:
        kind, starts = self._work.kinds[job], self._work.candidate_start
        return [int(site) for site in self._work.candidates[starts[kind] : starts[kind + 1]]]

    def _has(self, file: int, site: int) -> bool:
        stored = self._work.stored[self._work.stored_start[file] : self._work.stored_start[file + 1]]
        return self._made_at.get(file) == site or site in stored

    def _present(self, job: int) -> list[float]:
        files = self._work.inputs[self._work.input_start[job] : self._work.input_start[job + 1]]
        return [float(sum(self._has(file, site) for file in files)) for site in range(len(self._queues))]

    def _transfer(self, job: int, site: int) -> float:
        total = 0.0
        for at in range(self._work.input_start[job], self._work.input_start[job + 1]):
            if not self._has(self._work.inputs[at], site):
                total += self._work.input_seconds[at]
        return total * self._queues[site].place.transfer

    def _ready(self, attempt: Attempt, turn: int) -> None:
        """It could begin if its site had room."""
        if attempt.turn == turn:
            self._queues[attempt.site].waiting.append(attempt)
            self._begin(attempt.site)

    def _give_up(self, attempt: Attempt, turn: int) -> None:
        """It has been idle for too long, and is planned again."""
        now, site = self._heap.now, attempt.site
        if attempt.turn != turn or attempt.has_begun:
            return
        withdrawn(self._seen, site, now)
        self._withdrawn += 1
        queue = self._queues[site]
        queue.waiting = [other for other in queue.waiting if other is not attempt]
        attempt.turn, attempt.avoided = attempt.turn + 1, site
        self._in_hand -= 1
        self._plan_later(attempt)
        self._begin(site)

    def _begin(self, site: int) -> None:
        """Jobs begin in the order in which they came, as far as there is room."""
        queue, now = self._queues[site], self._heap.now
        while queue.waiting and queue.has_room(self._cores(queue.waiting[0])):
            attempt = queue.waiting.pop(0)
            job = attempt.lease.job
            queue.ours += self._cores(attempt)
            attempt.has_begun, attempt.began = True, now
            began(self._seen, site, now)
            self._waited += now - attempt.queued
            self._starts += 1
            lasts, place = float(self._model.load.seconds[job]) * self._chance[job][0], queue.place
            lasts /= place.speed
            exit_code = 0
            if place.failing and self._failures.random() < place.failing:
                lasts, exit_code = place.fails_after, 1
            self._heap.after(lasts, partial(self._end, attempt, exit_code))

    def _cores(self, attempt: Attempt) -> int:
        return self._model.load.needs[attempt.lease.job].cores

    def _end(self, attempt: Attempt, exit_code: int) -> None:
        now, job, site = self._heap.now, attempt.lease.job, attempt.site
        self._queues[site].ours -= self._cores(attempt)
        self._in_hand -= 1
        self._makespan = max(self._makespan, now)
        if exit_code == 0:
            ended(self._seen, site)
            self._done += 1
            self.ran_at[site] += 1
            self.ends[job] = now
            for at in range(self._work.output_start[job], self._work.output_start[job + 1]):
                self._made_at[int(self._work.outputs[at])] = site
        else:
            failed(self._seen, site, now)
        before = self._in_hand
        self._tell([Finish(attempt.lease.id, exit_code, attempt.began, now)])
        if exit_code and self._in_hand == before:
            self._failed += 1
        self._begin(site)


def _intake(model: Model) -> Intake:
    """The workflow as the engine takes it in: plain jobs with retries, cores and ranks."""
    load = model.load
    jobs = [
        None if milestone else Job("true", resources=Resources(cores=needs.cores), rules=Rules(retries=retries))
        for milestone, needs, retries in zip(load.dag.milestones, load.needs, load.retries, strict=True)
    ]
    return Intake(Flat(load.dag, jobs, frozenset()), load.ranks)
