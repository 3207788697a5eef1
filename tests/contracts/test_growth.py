"""Jobs that are added to a workflow in the store, also while it runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.store import Store, opened
from headway.live.store.growth import Growth
from headway.model import attributes
from headway.model.errors import HeadwayError, ModelError, NotFoundError
from headway.model.messages import WorkflowId
from tests.contracts.crew import Crew, all_done, graph, groups, submission
from tests.texts import Texts

CHAIN = "mqsub -l A -c a\nmqsub -deps A -l B -c b\n"


class Grown:
    """A store with a workflow that grows, and a placeholder at work on it."""

    def __init__(self, place: str) -> None:
        self.place = place

    def begin(self, text: str) -> Crew:
        self.crew = Crew.on(self.place, groups(text))
        return self.crew

    @property
    def growth(self) -> Growth:
        return self.crew.store.growth

    def add(self, group: str, *deps: str, **pairs: str) -> str:
        found = self.growth.add(self.crew.workflow, group, deps, attributes.from_pairs(group.lower(), pairs.items()))
        assert self.crew.store.steering.miscounted(self.crew.workflow) == []
        return found


@pytest.fixture(params=["sqlite", "postgresql"])
def grown(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Grown]:
    (tmp_path / "sites").mkdir()
    place = str(tmp_path / "store.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    found = Grown(place)
    yield found
    found.crew.store.close()


def test_a_job_that_waits_for_nothing_runs_at_once(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    assert grown.add("C") == "C"
    assert crew.take(9) == ["A", "C"]


def test_a_job_waits_for_those_that_are_not_done(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    crew.run("A")
    grown.add("C", "A", "B")
    grown.add("D", "A")
    assert crew.states() == "A:d B:e C:w D:e"
    crew.run("B")
    assert crew.take(9) == ["D", "C"]
    crew.end("C", "D")
    assert all_done(crew.store, crew.workflow)


def test_what_depends_on_a_job_that_failed_waits_until_it_is_tried_again(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    crew.run("A", exit_code=1)
    grown.add("C", "A")
    assert crew.states() == "A:f B:w C:w"
    crew.store.submissions.retry_failed(crew.workflow)
    crew.run("A", "B", "C")


def test_what_is_done_again_is_done_again_with_what_was_added_to_it(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    crew.run("A", "B")
    grown.add("C", "A")
    crew.run("C")
    crew.steer("redo", "A")
    assert crew.states() == "A:e B:w C:w"
    crew.run("A", "B", "C")


def test_a_group_that_was_added_last_gets_further_jobs_which_run_in_order(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    assert [grown.add("G", "A"), grown.add("G"), grown.add("G")] == ["G", "G#2", "G#3"]
    span = crew.store.places.group(crew.workflow, "G")
    assert span is not None and span.places == (2, 4)
    grown.add("H", "G")
    crew.run("A", "B", "G", "G#2", "G#3", "H")
    with pytest.raises(ModelError, match="gets no further jobs"):
        grown.add("G")
    with pytest.raises(ModelError, match="gets no further jobs"):
        grown.add("A")


def test_the_last_group_of_the_file_gets_further_jobs_too_unless_something_waits_for_it(grown: Grown) -> None:
    crew = grown.begin("mqsub -l A -c a\nmqsub -l B -c b1\nmqsub -l B -c b2\n")
    assert grown.add("B") == "B#3"
    assert crew.store.places.group(crew.workflow, "B").places == (1, 3)  # type: ignore[union-attr]
    crew.run("A", "B", "B#2", "B#3")


def test_what_depends_on_a_group_waits_for_its_end_or_its_release(grown: Grown) -> None:
    crew = grown.begin(
        "mqsub -l X -c x1 -attr release=yes\nmqsub -l X -c x2\nmqsub -l S/a -c sa -attr release=yes\n"
        "mqsub -l S/a -c sv\nmqsub -l S/b -c sb\nmqsub -l T/a/b -c t1\nmqsub -l T/c -c t2\n"
    )
    for group, dep in (("G", "X"), ("H", "S"), ("K", "T"), ("L", "S/a")):
        grown.add(group, dep)
    for taken, freed in (("X", "G"), ("S/a", "L"), ("S/b", "H")):
        assert freed not in crew.take(0)
        crew.take(99)
        crew.end(taken)
        assert freed in crew.take(99), freed
    crew.end("T/a/b")
    assert "K" not in crew.take(99)
    crew.end("T/c")
    assert "K" in crew.take(99)


def test_early_release_works_in_groups_that_were_added(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    grown.add("G", release="yes")
    grown.add("G", affinity="yes")
    grown.add("H", "G")
    assert crew.take(9) == ["A", "G"]
    crew.end("G")
    assert sorted(crew.take(9)) == ["G#2", "H"]


def test_retries_with_a_pause_hold_in_a_workflow_that_was_plain(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    crew.run("A")
    grown.add("C", retries="1", backoff="5")
    crew.run("B")
    crew.run("C", exit_code=1)
    assert "C:l" in crew.states()


@pytest.mark.parametrize(
    ("group", "deps", "said"),
    [
        ("C", ("Z",), '"C" depends on "Z", which workflow 1 does not have'),
        ("C", ("A", "Bb"), "does not have"),
        ("C", ("C",), "depends on itself"),
    ],
)
def test_a_dependency_that_is_not_there_is_refused_by_name(
    grown: Grown, group: str, deps: tuple[str, ...], said: str
) -> None:
    crew = grown.begin(CHAIN)
    with pytest.raises(HeadwayError, match=said):
        grown.add(group, *deps)
    assert crew.states() == "A:e B:w"


def test_what_cannot_be_added_is_refused(grown: Grown) -> None:
    grown.begin(CHAIN)
    with pytest.raises(ModelError, match="named resources"):
        grown.add("C", **{"resource.gpu": "1"})
    with pytest.raises(NotFoundError, match="no workflow 7"):
        grown.growth.add(WorkflowId(7), "C", (), attributes.from_pairs("c", ()))


def test_workflows_with_processes_do_not_grow(grown: Grown) -> None:
    from headway.formats.flat import parse
    from headway.model.job import Job

    workflow = parse("flow.sh", Texts({"flow.sh": CHAIN}))
    workflow.groups.groups[0].jobs[0].parts = (Job("one"), Job("two"))
    grown.crew = Crew.on(grown.place, submission(workflow))
    with pytest.raises(HeadwayError, match="cannot grow"):
        grown.add("C")


def test_everybody_sees_what_was_added(grown: Grown) -> None:
    crew = grown.begin(CHAIN)
    watching = crew.store.watching
    after = watching.changes(workflow=crew.workflow).after
    grown.add("C", "A")
    found = watching.changes(after, crew.workflow)
    assert 2 in {one.job for one in found.jobs}
    assert watching.seen_counts(crew.workflow)[crew.workflow].digits == b"100"


def test_nothing_is_lost_while_others_end_what_it_waits_for(grown: Grown) -> None:
    """Each new job waits for the one that ends at the same moment: it must be told."""
    crew = grown.begin("".join(f"mqsub -l A{at} -c a\n" for at in range(40)))
    crew.take(40)
    store: Store = opened(grown.place)

    def grow() -> None:
        for at in range(40):
            store.growth.add(crew.workflow, f"B{at}", [f"A{at}"], attributes.from_pairs("b", ()))

    thread = threading.Thread(target=grow) if store.is_shared and "postgres" in grown.place else None
    if thread is None:
        grow()
    else:
        thread.start()
    for at in range(40):
        crew.end(f"A{at}")
    if thread is not None:
        thread.join()
    store.close()
    assert crew.store.steering.miscounted(crew.workflow) == []
    assert sorted(crew.take(99)) == sorted(f"B{at}" for at in range(40))


def test_jobs_of_a_dag_may_be_waited_for_by_name(grown: Grown) -> None:
    grown.crew = Crew.on(grown.place, graph(["a", "b", "M", "c"], [(0, 2), (1, 2), (2, 3)]))
    grown.add("d", "a", "c")
    grown.crew.run("a", "b", "c", "d")
