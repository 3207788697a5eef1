"""One run after the other, each about another part of a workflow: --until, --from, --retry, and edited files."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from headway.engine import again
from headway.engine.arrangement import Place, Waits, arranged, arrives
from headway.engine.edited import KEEP, RERUN, still_done
from headway.engine.intake import Intake
from headway.engine.plan import Known, Plan, plan
from headway.engine.progress import Changes
from headway.engine.steering import disable, enable
from headway.model.flatten import Flat
from headway.model.job import Job, Rules
from headway.model.messages import JobId
from headway.model.part import part
from headway.model.states import Needs, Off, State
from tests.engine.machine import ONE, SLOTS, Bench, run_machine
from tests.sim.dags import small_dags


@st.composite
def flats(draw: st.DrawFn) -> Flat:
    """Plain jobs; what each is, is its command."""
    dag = draw(small_dags(7))
    weak = frozenset(arc for arc in dag.arcs() if not dag.milestones[arc[0]] and draw(st.integers(0, 2)) == 0)
    jobs = [None if milestone else Job(draw(st.sampled_from(["x", "y"]))) for milestone in dag.milestones]
    return Flat(dag, jobs, weak)


class Arranged(Bench):
    """Runs of a workflow; each begins when nothing of the one before is under way, or while some is."""

    flat: Flat

    @initialize(flat=flats())
    def submit(self, flat: Flat) -> None:
        self.flat = flat
        self.begin(Intake(flat, [0] * len(flat.dag)))

    def known(self) -> dict[int, Known]:
        return {
            row.job: Known(row.state, row.job in self.ended, row.is_disabled)
            for row in self.rows
            if self.flat.jobs[row.job] is not None
        }

    def arrange(self, planned: Plan | None) -> None:
        """As a store does."""
        memory = self.memory
        places = {int(row.job): Place(row.state, row.waiting_for, row.off) for row in self.rows}
        counted = {
            (key[1], child) for key, arcs in memory.arcs.items() for child, needs in arcs if needs >= Needs.END_MET
        }
        changes = Changes()
        for job, place in sorted(arranged(self.flat, places, Waits(counted), planned).items()):
            row = changes.rows[ONE, JobId(job)] = self.row(job)
            row.waiting_for, row.off = place.waiting_for, place.off
            if arrives(places[job], place):
                row.arrival = memory.next_arrival(ONE)
            if planned is not None and job in planned.anew and row.state in (State.DONE, State.FAILED):
                row.tries = 0
                self.ended.discard(job)
                memory.arcs[row.key] = [(child, min(weak, 1)) for child, weak in memory.arcs.get(row.key, ())]
            if place.state is not row.state:
                row.to(place.state)
        memory.save(changes)

    @rule(data=st.data(), retry=st.booleans())
    def run(self, data: st.DataObject, retry: bool) -> None:
        names = [self.flat.dag.names[node] for node in self.flat.dag.jobs()]
        some = st.lists(st.sampled_from(names), max_size=2) if names else st.just([])
        until, since = data.draw(some, label="until"), data.draw(some, label="from")
        planned = plan(self.flat, self.known(), part(self.flat, until, since), retry=retry)
        self.undone |= planned.anew
        self.arrange(planned)
        if retry:
            failed = [row for row in self.rows if row.state is State.FAILED]
            self.memory.save(again.retry(self.memory, failed))
        self.planned = planned

    @rule()
    def run_everything(self) -> None:
        self.arrange(None)
        assert not any(row.off & ~Off.BY_USER for row in self.rows)

    @precondition(lambda self: not self.held)
    @rule(data=st.data())
    def run_to_the_end(self, data: st.DataObject) -> None:
        """All that a run is about is run, and nothing else, if nothing fails."""
        self.run(data, retry=data.draw(st.booleans(), label="retry"))
        self.look_back()
        meant = {node for node, verdict in enumerate(self.planned.verdicts) if verdict is not None and verdict.runs}
        ran = list[int]()
        leases = self.exchange([], SLOTS).leases
        while leases:
            ran += [lease.job for lease in leases]
            leases = self.exchange([(lease.id, 0) for lease in leases], SLOTS).leases
        assert sorted(ran) == sorted(meant)
        assert self.is_over()

    @rule(node=st.integers(0, 6), off=st.booleans())
    def switch(self, node: int, off: bool) -> None:
        rows = [row for row in self.rows if row.job == node]
        self.memory.save((disable if off else enable)(self.memory, rows))

    @precondition(lambda self: not self.held)
    @rule(flat=flats(), way=st.sampled_from([KEEP, RERUN]))
    def edit(self, flat: Flat, way: str) -> None:
        """The file is another one: what was done and is the same need not run."""
        before = {
            self.flat.dag.names[row.job]: (row.state is State.DONE, job.command or "")
            for row in self.rows
            if (job := self.flat.jobs[row.job]) is not None
        }
        definitions = [None if job is None else job.command for job in flat.jobs]
        kept = still_done(flat.dag, definitions, before, way)
        for node in kept:
            was_done, definition = before[flat.dag.names[node]]
            assert was_done
            if way == RERUN:
                assert definition == definitions[node]
                assert all(parent in kept or flat.jobs[parent] is None for parent in flat.dag.parents_of(node))
        jobs = [
            job if job is None or node not in kept else Job(job.command, rules=Rules(done=True))
            for node, job in enumerate(flat.jobs)
        ]
        self.flat = Flat(flat.dag, jobs, flat.weak)
        self.begin(Intake(self.flat, [0] * len(jobs)))


def test_each_run_does_what_it_is_about_and_no_counter_goes_wrong() -> None:
    run_machine(Arranged)
