"""The groups of a status, counted all at once, are those that looking at each job gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.engine.groups import shown_state
from headway.live.answers.status import GroupStatus, status
from headway.live.store import Store
from headway.live.store.views import Span, Submitted
from headway.model.states import State
from tests.contracts.crew import Crew, groups

NAMES = ["A", "B", "C", "D", "one/E", "one/F", "two/G", "two/in/H", "two/in/I"]
URGENT = (State.RUNNING, State.FAILED, State.DISABLED, State.LATER, State.ELIGIBLE, State.WAITING, State.DONE)


def one_by_one(store: Store, workflow: Submitted) -> list[GroupStatus]:
    """Groups at the top, and jobs that are of none."""
    spans = list[Span]()
    for span in store.places.groups(workflow.id):
        if all(span.first > other.last for other in spans):
            spans.append(span)
    found: dict[str, GroupStatus] = {}
    for job in store.places.seen(workflow.id, 0, 1 << 62):
        span = next((span for span in spans if span.first <= job.job <= span.last), Span(job.name, job.job, job.job))
        counts = found.setdefault(span.path, GroupStatus(span, {})).counts
        state = shown_state(job.state, job.off)
        counts[state] = counts.get(state, 0) + 1
    return list(found.values())


@given(
    names=st.lists(
        st.sampled_from(["A", "B", "C", "D", "one/E", "one/F", "two/G", "two/in/H", "two/in/I"]), unique=True
    ),
    chained=st.booleans(),
    codes=st.lists(st.sampled_from([0, 0, 1]), max_size=6),
    off=st.integers(0, 9),
    most=st.integers(0, 9),
)
def test_groups_are_those_that_looking_at_each_job_gives(
    names: list[str], chained: bool, codes: list[int], off: int, most: int
) -> None:
    tops = [name.partition("/")[0] for name in names]
    lines = [f"mqsub -l {group}" for group in ("one", "two", "two/in") if any(n.startswith(f"{group}/") for n in names)]
    lines += [f"mqsub -l {name} -c true" for name in names]
    lines += [f"mqsub -deps {tops[0]} -l last -c true"] if chained and names else ["mqsub -l last -c true"]
    crew = Crew.on(":memory:", groups("\n".join(lines) + "\n"))
    for code in codes:
        taken = crew.take(1)
        if taken:
            crew.end(*taken, exit_code=code)
    crew.take(1)
    crew.store.steering.steer("disable", crew.workflow, [(off, off + 1)])
    (workflow,) = crew.store.watching.workflows()
    expected = one_by_one(crew.store, workflow)
    found = status(crew.store, workflow)
    assert found.groups == expected and found.more == 0
    assert set(found.states) == {state for group in expected for state in group.counts}
    few = status(crew.store, workflow, most=most)
    chosen = sorted(range(len(expected)), key=lambda at: URGENT.index(expected[at].state))[:most]
    assert few.groups == [expected[at] for at in sorted(chosen)] and few.more == len(expected) - len(chosen)
