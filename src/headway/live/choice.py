"""Which jobs a run is about: its options meet what earlier runs have left in the store, and what make says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from headway.engine.plan import UNJUDGED, Known, Plan, plan
from headway.live.store.arrangement import arrange, is_arranged, known, left_out
from headway.live.store.sqlite import SqliteStore
from headway.model.flatten import Flat
from headway.model.messages import WorkflowId
from headway.model.part import part
from headway.model.states import State


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user of one run wants."""

    until: Sequence[str] = ()
    since: Sequence[str] = ()
    retry: bool = False

    def planned(self, flat: Flat, earlier: Mapping[int, Known]) -> Plan:
        """What happens to each job."""
        return plan(flat, earlier, part(flat, self.until, self.since), UNJUDGED, self.retry)

    def settler(self, store: SqliteStore) -> Callable[[WorkflowId, Flat], None]:
        """What tells a store, once it has the workflow."""
        return partial(self.settle, store)

    def settle(self, store: SqliteStore, workflow: WorkflowId, flat: Flat) -> None:
        """Tells the store. A later run that chooses otherwise goes on with what this one leaves out."""
        if self.until or self.since:
            arrange(store, workflow, flat, self.planned(flat, known(store, workflow)))
        elif is_arranged(store, workflow):
            arrange(store, workflow, flat, None)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many jobs of a workflow are done, failed, not run though they were to, and left out of this run."""

    done: int
    failed: int
    skipped: int
    left_out: int


def tally(store: SqliteStore, workflow: WorkflowId) -> Tally:
    counts, out = store.counts(workflow), left_out(store, workflow)
    done, failed = counts.get(State.DONE, 0), counts.get(State.FAILED, 0)
    skipped = sum(counts.values()) - done - failed
    failed_out = out.get(State.FAILED, 0)
    rest_out = sum(out.values()) - failed_out
    return Tally(done, failed - failed_out, skipped - rest_out, failed_out + rest_out)
