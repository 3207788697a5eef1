"""The rows of a browser: groups, prologue groups and jobs, with the ids of TrellisDAG's Fig. 15."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.formats.flat import parse
from headway.live.answers.tree import TOP, Digits, Row, Tree, What
from headway.live.store.views import JobState, Span
from headway.model.flatten import flatten
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Kind, State
from tests.texts import Texts


def tree_of(text: str, states: dict[str, State] | None = None) -> tuple[Tree, Digits, dict[int, str]]:
    """As a store has it: spans, names, and a row for each node."""
    graph = flatten(parse("w.sh", Texts({"w.sh": text})))
    digits = Digits()
    digits.take(
        JobState(
            WorkflowId(1),
            JobId(node),
            Kind.MILESTONE if job is None else Kind.JOB,
            (states or {}).get(graph.dag.names[node], State.WAITING),
            False,
            0,
            None,
        )
        for node, job in enumerate(graph.jobs)
    )
    names = {node: name for node, name in enumerate(graph.dag.names) if graph.jobs[node] is not None}
    return Tree([Span(*group) for group in graph.groups], names, digits), digits, names


def rows(tree: Tree, level: int = TOP, with_empty: bool = False) -> list[tuple[int | None, str]]:
    return [(row.id, row.name) for row in tree.rows(level, with_empty)]


def test_a_prologue_group_comes_before_all_in_its_group_and_the_group_after_it() -> None:
    tree, _, _ = tree_of("mqsub -l X/K -c k\nmqsub -l X/L -c l\nmqsub -l Y -c y\n")
    assert rows(tree, with_empty=True) == [(1, "X_prologue"), (6, "X"), (7, "Y_prologue"), (8, "Y")]
    inside = tree.rows(TOP)[0].inside
    assert inside is not None
    assert rows(tree, inside, True) == [(2, "K_prologue"), (3, "K"), (4, "L_prologue"), (5, "L")]


def test_prologue_groups_without_jobs_are_left_out_and_counted_all_the_same() -> None:
    tree, _, _ = tree_of("mqsub -l X -c p -prologue\nmqsub -l X/K -c k\nmqsub -l Y -c y\n")
    assert rows(tree) == [(1, "X_prologue"), (4, "X"), (6, "Y")]


def test_a_groups_own_jobs_and_its_epilogue_are_jobs_not_groups() -> None:
    text = "mqsub -l X/K -c k\nmqsub -l X -c a\nmqsub -l X -c b\nmqsub -l X -c e -epilogue\nmqsub -l X -c p -prologue\n"
    tree, _, _ = tree_of(text)
    inside = tree.rows(TOP)[1].inside
    assert inside is not None
    found = tree.rows(inside)
    assert [(row.what, row.name) for row in found] == [
        (What.GROUP, "K"),
        (What.JOB, "X"),
        (What.JOB, "X#2"),
        (What.JOB, "X_epilogue"),
    ]
    assert tree.above(inside) == TOP and tree.path(inside) == "X" and tree.level("X") == inside


def test_a_row_stands_as_its_jobs_do() -> None:
    text = "mqsub -l X -c p -prologue\nmqsub -l X/K -c k\nmqsub -l X/L -c l\n"
    tree, digits, _ = tree_of(text, {"X_prologue": State.DONE, "X/K": State.FAILED})
    prologue, group = (digits.status(row) for row in tree.rows(TOP))
    assert (prologue.word, prologue.done, prologue.total) == ("Done", 1, 1)
    assert (group.word, group.attribute, group.done, group.total) == ("Failed", "None", 0, 2)


def test_an_empty_prologue_group_is_done_as_soon_as_its_group_may_begin() -> None:
    text = "mqsub -l X/K -c k\nmqsub -l X/L -c l\n"
    for state, word in ((State.WAITING, "Not started"), (State.ELIGIBLE, "Done")):
        tree, digits, _ = tree_of(text, {"X/K": state})
        assert digits.status(tree.rows(TOP, True)[0]).word == word


def test_changes_are_taken_and_told() -> None:
    _, digits, _ = tree_of("mqsub -l A -c a\nmqsub -l B -c b\n")

    def change(job: int, state: State, off: bool = False) -> JobState:
        return JobState(WorkflowId(1), JobId(job), Kind.JOB, state, off, 0, None)

    assert digits.take([change(0, State.WAITING)]) == (False, False)
    assert digits.take([change(0, State.DONE)]) == (True, False) and digits.total() == (1, 2)
    assert digits.take([change(1, State.WAITING, off=True)]) == (True, False)
    assert digits.take([change(3, State.ELIGIBLE)]) == (True, True) and digits.total() == (1, 3)


PATHS = st.lists(st.sampled_from("KLMN"), min_size=1, max_size=4).map("/".join)
PARTS = st.sampled_from(["", " -prologue", " -epilogue"])


@given(st.lists(st.tuples(PATHS, PARTS), min_size=1, max_size=14))
def test_every_job_is_in_exactly_one_row_of_the_deepest_level_and_ids_are_counted_without_gaps(
    given: list[tuple[str, str]],
) -> None:
    tree, digits, names = tree_of("".join(f"mqsub -l {path} -c x{part}\n" for path, part in given))
    seen: list[Row] = []

    def look(level: int) -> None:
        for row in tree.rows(level, with_empty=True):
            seen.append(row)
            if row.inside is not None:
                look(row.inside)

    look(TOP)
    leaves = [row for row in seen if row.inside is None]
    covered = [place for row in leaves for place in range(row.first, row.last + 1) if digits.is_job(place)]
    assert sorted(covered) == sorted(names)
    ids = [row.id for row in seen if row.id is not None]
    assert sorted(ids) == list(range(1, len(ids) + 1))
    by_path = {row.path: row for row in seen if row.what is What.PROLOGUE}
    for row in seen:
        if row.what is What.GROUP:
            before = by_path[row.path + "_prologue"].id
            assert row.id is not None and before is not None and before < row.id
