"""Workflows built in Python."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from headway.model.errors import InputError, ModelError, shown
from headway.model.job import NO_ATTRIBUTES, Job, Resources
from headway.model.workflow import Group, Members, Workflow


def paths(workflow: Workflow) -> list[str]:
    return [path for path, _ in workflow.walk()]


# --- building ------------------------------------------------------------------------------------------------------


def test_a_job_is_a_group_of_one_job() -> None:
    workflow = Workflow("w")
    group = workflow.job("A", "echo hi", cores=2)
    assert workflow.groups.get("A") is group
    assert group.jobs == [Job("echo hi", resources=Resources(cores=2))]


def test_groups_may_be_named_or_handed_over_as_what_comes_before() -> None:
    workflow = Workflow()
    a = workflow.job("A", "a")
    workflow.job("B", "b", after="A")
    workflow.job("C", "c", after=a)
    workflow.job("D", "d", after=["A", workflow.groups.groups[1]])
    workflow.group("E", after=(name for name in "CD"))
    assert workflow.groups.parents_of() == {"B": ["A"], "C": ["A"], "D": ["A", "B"], "E": ["C", "D"]}


def test_a_group_is_filled_by_chaining() -> None:
    group = Workflow().group("X").before("p").run("a").run("b", release=True).afterwards("e").before("q")
    assert [job.command for job in group.all_jobs()] == ["p", "q", "a", "b", "e"]
    assert [job.command for job in group.prologue] == ["p", "q"]
    assert [job.command for job in group.epilogue] == ["e"]
    assert group.jobs[1].release


def test_subgroups_are_added_like_groups() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    x.job("K", "k")
    x.group("L", after="K").job("P", "p")
    assert paths(workflow) == ["X", "X/K", "X/L", "X/L/P"]
    assert x.groups.parents_of() == {"L": ["K"]}


def test_a_name_may_be_used_again_on_another_level() -> None:
    workflow = Workflow()
    workflow.group("A").job("A", "a")
    assert paths(workflow) == ["A", "A/A"]


@pytest.mark.parametrize("name", ["", None, 5])
def test_a_group_needs_a_name_that_is_text(name: str) -> None:
    with pytest.raises(ModelError, match="has no name"):
        Workflow().group(name)


def test_a_name_that_is_taken_is_refused_and_nothing_changes() -> None:
    workflow = Workflow()
    workflow.job("A", "a")
    with pytest.raises(ModelError, match='group "A" is there already'):
        workflow.job("A", "b")
    with pytest.raises(ModelError, match='group "A" is there already'):
        workflow.group("A", after="A")
    assert len(workflow.groups) == 1
    assert list(workflow.groups.arcs()) == []


def test_waiting_for_an_unknown_group_is_refused_and_nothing_changes() -> None:
    workflow = Workflow()
    with pytest.raises(ModelError, match='group "B" is to run after "A", which is not on its level'):
        workflow.job("B", "b", after="A")
    assert len(workflow.groups) == 0


def test_a_group_cannot_wait_for_one_of_another_level_even_if_a_namesake_is_on_its_own() -> None:
    workflow = Workflow()
    workflow.job("A", "a")
    inner = workflow.group("X").job("A", "a")
    with pytest.raises(ModelError, match="not on its level"):
        workflow.job("B", "b", after=inner)
    with pytest.raises(ModelError, match="not on its level"):
        workflow.groups.groups[1].job("B", "b", after="X")


def test_a_group_cannot_wait_for_itself() -> None:
    with pytest.raises(ModelError, match="not on its level"):
        Workflow().job("A", "a", after="A")


@pytest.mark.parametrize("after", [None, 5, [5], [None]])
def test_waiting_for_what_is_no_group_is_a_model_error(after: str) -> None:
    workflow = Workflow()
    with pytest.raises(ModelError, match="something of type"):
        workflow.job("A", "a", after=after)
    assert len(workflow.groups) == 0


def test_a_job_with_a_wrong_option_is_not_added() -> None:
    workflow = Workflow()
    with pytest.raises(ModelError):
        workflow.job("A", "a", cores=0)
    with pytest.raises(ModelError):
        workflow.group("X").job("K", "k", seconds="soon")
    assert paths(workflow) == ["X"]


# --- looking -------------------------------------------------------------------------------------------------------


def test_a_walk_meets_supergroups_before_their_subgroups_and_all_in_order() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    workflow.job("Y", "y")
    x.group("L").job("Q", "q")
    x.job("K", "k")
    assert paths(workflow) == ["X", "X/L", "X/L/Q", "X/K", "Y"]
    assert [group.name for _, group in workflow.walk()] == ["X", "L", "Q", "K", "Y"]


def test_a_walk_goes_as_deep_as_there_are_groups() -> None:
    workflow = Workflow()
    group = workflow.group("g")
    for _ in range(5_000):
        group = group.group("g")
    assert sum(1 for _ in workflow.walk()) == 5_001


def test_special_nodes_come_in_the_order_they_start() -> None:
    final, first, service = Group("F"), Group("P"), Group("S")
    workflow = Workflow(final=final, provisioner=first, services=[service])
    assert list(workflow.special()) == [first, service, final]
    assert list(Workflow().special()) == []


def test_members_are_found_by_name_and_by_place() -> None:
    members = Members()
    assert [members.add(Group(name)) for name in "ab"] == [0, 1]
    assert "a" in members
    assert "c" not in members
    assert members.get("b") is members.groups[1]
    assert members.get("c") is None
    assert members.place("b") == 1
    assert members.place("c") is None


def test_an_arc_that_is_weak_and_strong_is_strong() -> None:
    members = Members()
    for name in "abc":
        members.add(Group(name))
    members.arc(0, 1, weak=True)
    members.arc(0, 1, line=3)
    members.arc(1, 2, weak=True)
    assert [(a.name, b.name, weak) for a, b, weak in members.arcs()] == [("a", "b", False), ("b", "c", True)]


# --- equality ------------------------------------------------------------------------------------------------------


def sample(*arcs: tuple[int, int]) -> Workflow:
    workflow = Workflow("w")
    for name in "ABC":
        workflow.job(name, name.lower()).job("K", "k")
    for parent, child in arcs:
        workflow.groups.arc(parent, child)
    return workflow


def test_workflows_are_equal_whatever_the_order_of_their_arcs() -> None:
    assert sample((0, 1), (1, 2)) == sample((1, 2), (0, 1), (0, 1))


def test_workflows_differ_by_an_arc_a_job_or_a_strength() -> None:
    usual, weak, longer, deeper = sample((0, 1)), sample(), sample((0, 1)), sample((0, 1))
    weak.groups.arc(0, 1, weak=True)
    longer.groups.groups[2].run("d")
    deeper.groups.groups[2].groups.groups[0].run("d")
    assert all(usual != other for other in (sample(), sample((0, 2)), weak, longer, deeper))


def test_asking_for_subgroups_that_are_not_there_changes_nothing() -> None:
    asked = Group("A")
    assert len(asked.groups) == 0
    assert asked == Group("A")
    assert Group("A") == asked
    assert asked != Group("B")


def test_a_group_or_its_members_equal_nothing_else() -> None:
    assert Group("A") != "A"
    assert Members() != []


# --- copies --------------------------------------------------------------------------------------------------------


def nested() -> Workflow:
    workflow = Workflow("w")
    first = workflow.job("A", "a", cores=2, attributes={"colour": "red"})
    workflow.group("B", after=first).run("b").job("C", "c", release=True)
    return workflow


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
def test_a_copy_of_a_workflow_is_equal_and_goes_its_own_way(copied: Callable[[Workflow], Workflow]) -> None:
    workflow = nested()
    other = copied(workflow)
    assert other == nested()
    other.job("D", "d", after="B")
    other.groups.groups[1].job("E", "e", after="C")
    assert workflow == nested()
    assert (other.groups.place("D"), workflow.groups.place("D")) == (2, None)
    assert paths(other) == ["A", "B", "B/C", "B/E", "D"]


def test_a_job_without_attributes_has_none_that_could_be_changed_for_all_jobs() -> None:
    job = copy.deepcopy(Job("a"))
    assert job.attributes is NO_ATTRIBUTES
    assert (dict(job.attributes), len(job.attributes), "x" in job.attributes, repr(job.attributes)) == (
        {},
        0,
        False,
        "{}",
    )
    assert job.attributes == {}
    with pytest.raises(KeyError):
        job.attributes["x"]
    with pytest.raises(TypeError):
        job.attributes["x"] = "y"  # type: ignore[index]


# --- words in errors -----------------------------------------------------------------------------------------------


def test_a_word_is_repeated_quoted_printable_and_short() -> None:
    assert shown("a b") == '"a b"'
    assert shown("a\x1b\n\ud800\u200b\udce9") == '"a\\x1b\\x0a\\ud800\\u200b\\xe9"'
    assert len(shown("x" * 10_000_000)) == 82


def test_an_error_on_a_file_names_a_line_from_1_up_and_a_printable_path() -> None:
    assert str(InputError("a\nb.dag", 0, "it is wrong.", "Mend it.")) == "a?b.dag:1: it is wrong. Mend it."
    assert str(InputError("a.dag", 3, "it is wrong.")) == "a.dag:3: it is wrong."
