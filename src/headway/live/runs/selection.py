"""Which jobs a run is about: its options meet what earlier runs have left in the store, and what make says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from headway.engine.edited import REFUSE, RERUN
from headway.live.store import Store
from headway.model.flatten import Flat
from headway.model.messages import WorkflowId
from headway.model.record import record
from headway.model.states import State
from headway.model.workflow import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:  # a run of everything does without
    from headway.engine.plan import Known, Plan
    from headway.live.store.defaults import Defaults

Busy = Callable[[], frozenset[WorkflowId]]


@record
class Choice:
    """What the user of one run wants of a workflow, read with these arguments."""

    source: Workflow
    arguments: Sequence[str] = ()
    until: Sequence[str] = ()
    since: Sequence[str] = ()
    retry: bool = False
    always: bool = False  # run also what make calls up to date
    defaults: Defaults | None = None  # of retries, for jobs that set none

    def planned(
        self,
        flat: Flat,
        earlier: Mapping[int, Known] | None = None,
        started: Mapping[int, float] | None = None,
        owed: Mapping[str, str] | None = None,
    ) -> Plan:
        """What happens to each job, by how far earlier runs have got with it, when they last started it, and what of a
        Makefile's targets they have not made as it says now.
        """
        from headway.engine.plan import UNJUDGED, plan
        from headway.model.part import part

        earlier, judged = earlier or {}, UNJUDGED
        if self.is_judged:
            from headway.live.runs.uptodate import Earlier, all_of
            from headway.live.runs.uptodate import judged as judgement

            known = Earlier(earlier, started or {}, owed or {})
            judged = all_of(flat) if self.always else judgement(self.source, self.arguments, flat, known, self.retry)
        return plan(flat, earlier, part(flat, self.until, self.since), judged, self.retry)

    @property
    def is_judged(self) -> bool:
        """Whether make has a say, or -B has."""
        return self.source.format == "makefile"

    def way(self, edited: str) -> str:
        """What to do with an edited file: with -B all of it runs again, so there is nothing to ask."""
        return RERUN if self.is_judged and self.always and edited == REFUSE else edited

    def owed(self, store: Store, workflow: WorkflowId, flat: Flat) -> Mapping[str, str]:
        """Targets that must be made, whatever their files look like."""
        if not self.is_judged or self.always:
            return {}
        from headway.live.runs.uptodate import owed
        from headway.live.store.arrangement import earlier, made

        database = store.database
        before = earlier(database, workflow)
        found = owed(flat, made(database, workflow), (made(database, one) for one in before)) if before else {}
        return self.with_halves(store, workflow, flat, found)

    def with_halves(
        self, store: Store, workflow: WorkflowId | None, flat: Flat, owed: Mapping[str, str]
    ) -> Mapping[str, str]:
        """The same, by the last attempt at each target with any goals: not only those of this workflow."""
        if not self.is_judged or self.always:
            return {}
        from headway.live.runs.submit import source_of
        from headway.live.runs.uptodate import HALF, half_made
        from headway.live.store.makefiles import last_attempts, of_file, unfinished

        database = store.database
        others = of_file(database, source_of(self.source, ()), workflow)
        if not others:
            return owed
        every = others if workflow is None else [*others, workflow]
        halves = half_made(flat, unfinished(database, others), lambda names: last_attempts(database, every, names))
        return dict.fromkeys(halves, HALF) | {name: why for name, why in owed.items() if why != HALF}

    def refuse_twice(self, store: Store, busy: Busy, workflow: WorkflowId, flat: Flat, planned: Plan) -> None:
        """Raises if a target that this run would make is being made now by a run of the Makefile with other goals."""
        from headway.live.runs.submit import source_of
        from headway.live.store.makefiles import being_made, of_file
        from headway.model.errors import HeadwayError, shown

        others = of_file(store.database, source_of(self.source, ()), workflow)
        runs = being_made(store.database, others) if others else {}
        if not runs:
            return
        names = [flat.dag.names[node] for node, one in enumerate(planned.verdicts) if one is not None and one.runs]
        twice = next(((name, runs[name]) for name in names if name in runs), None)
        if twice is not None and twice[1] in busy():
            name, other = twice
            raise HeadwayError(
                f"{shown(name)} is being made now by another run of this Makefile, workflow {other}: it would be made"
                " twice at once.",
                f"Wait for that run (headway attach --workflow {other}), then run this again.",
            )

    def settler(self, store: Store, busy: Busy) -> Callable[[WorkflowId, Flat], None]:
        """What tells a store, once it has the workflow; `busy`: the workflows that somebody runs now."""
        return partial(self.settle, store, busy)

    def settle(self, store: Store, busy: Busy, workflow: WorkflowId, flat: Flat) -> None:
        """Tells the store. A later run that chooses otherwise goes on with what this one leaves out."""
        if self.defaults is not None:
            from headway.live.store.defaults import set_defaults

            set_defaults(store.database, workflow, flat, self.defaults)
        arranged = bool(store.progress.left_out(workflow))
        if not (arranged or self.until or self.since or self.is_judged):
            return
        from headway.live.store.arrangement import arrange, known, last_starts

        if self.until or self.since or self.is_judged:
            started = last_starts(store.database, workflow) if self.is_judged else {}
            planned = self.planned(flat, known(store.database, workflow), started, self.owed(store, workflow, flat))
            if self.is_judged:
                self.refuse_twice(store, busy, workflow, flat, planned)
            if arranged or not planned.is_plain:
                arrange(store.database, workflow, flat, planned)
        elif arranged:
            arrange(store.database, workflow, flat, None)


@record
class Tally:
    """How many jobs of a workflow are done, failed, not run though they were to, and left out of this run."""

    done: int
    failed: int
    skipped: int
    left_out: int


def tally(store: Store, workflow: WorkflowId) -> Tally:
    counts, out = store.progress.counts(workflow), store.progress.left_out(workflow)
    done, failed = counts.get(State.DONE, 0), counts.get(State.FAILED, 0)
    skipped = sum(counts.values()) - done - failed
    failed_out = out.get(State.FAILED, 0)
    rest_out = sum(out.values()) - failed_out
    return Tally(done, failed - failed_out, skipped - rest_out, failed_out + rest_out)
