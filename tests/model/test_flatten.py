"""What TrellisDAG's groups mean (sections 3.1 and 3.2.3 of the paper), a sentence each, and all of it naively."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model.errors import CycleError, InputError, ModelError
from headway.model.flatten import Flat, flatten, job_name
from headway.model.job import Job
from headway.model.workflow import Group, Members, Workflow

RELEASE = {"release": "yes"}


def arcs(workflow: Workflow) -> set[tuple[str, str]]:
    """Pairs of jobs joined directly or through milestones."""
    dag = flatten(workflow).dag
    return {(dag.names[job], dag.names[child]) for job in dag.jobs() for child in dag.job_children(job)}


def before(workflow: Workflow, name: str) -> set[str]:
    """Every job that must be done before this one starts."""
    flat = flatten(workflow)
    node = next(node for node in flat.dag.jobs() if flat.dag.names[node] == name)
    return {flat.dag.names[above] for above in ancestors(flat)[node] if flat.jobs[above] is not None}


def ancestors(flat: Flat) -> list[set[int]]:
    above: list[set[int]] = [set() for _ in range(len(flat.dag))]
    for node in flat.dag.order:
        for child in flat.dag.children_of(node):
            above[child] |= above[node] | {node}
    return above


def names(workflow: Workflow) -> list[str]:
    dag = flatten(workflow).dag
    return [dag.names[node] for node in dag.jobs()]


# --- the sentences -------------------------------------------------------------------------------------------------


def test_jobs_of_a_group_run_in_the_order_of_their_submission() -> None:
    workflow = Workflow()
    workflow.group("X").run("a").run("b").run("c")
    assert names(workflow) == ["X", "X#2", "X#3"]
    assert arcs(workflow) == {("X", "X#2"), ("X#2", "X#3")}


def test_a_group_that_depends_on_another_starts_after_its_last_job() -> None:
    workflow = Workflow()
    workflow.group("X").run("a").run("b")
    workflow.group("Y", after="X").run("c").run("d")
    assert arcs(workflow) == {("X", "X#2"), ("X#2", "Y"), ("Y", "Y#2")}


def test_groups_without_a_dependency_run_side_by_side() -> None:
    workflow = Workflow()
    workflow.job("A", "a")
    workflow.job("B", "b")
    assert arcs(workflow) == set()


def test_a_supergroups_own_jobs_run_after_all_its_subgroups() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    x.job("K", "k")
    x.job("L", "l", after="K")
    x.group("M").job("N", "n")
    x.run("a").run("b")
    assert before(workflow, "X") == {"X/K", "X/L", "X/M/N"}
    assert arcs(workflow) == {("X/K", "X/L"), ("X/L", "X"), ("X/M/N", "X"), ("X", "X#2")}


def test_a_supergroups_own_jobs_wait_for_early_released_subgroups_to_their_end() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    x.group("K").run("compute", release=True).run("verify")
    x.job("L", "l", after="K")
    x.run("a")
    assert before(workflow, "X/L") == {"X/K"}
    assert before(workflow, "X") == {"X/K", "X/K#2", "X/L"}


def test_it_waits_for_early_released_groups_deeper_down_as_well() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    k = x.group("K")
    k.group("P").run("compute", release=True).run("verify")
    x.job("L", "l", after="K")
    x.run("a")
    assert before(workflow, "X/L") == {"X/K/P"}
    assert before(workflow, "X") == {"X/K/P", "X/K/P#2", "X/L"}


def test_a_dependency_between_supergroups_joins_all_their_jobs_pairwise() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    x.job("K", "k")
    x.job("L", "l")
    y = workflow.group("Y", after="X")
    y.job("P", "p")
    y.job("Q", "q")
    assert arcs(workflow) == {(f"X/{first}", f"Y/{second}") for first in "KL" for second in "PQ"}


def test_an_arrow_between_supergroups_is_milestones_and_not_all_pairs() -> None:
    workflow = Workflow()
    x, y = workflow.group("X"), workflow.group("Y", after="X")
    for number in range(100):
        x.job(f"K{number}", "k")
        y.job(f"P{number}", "p")
    dag = flatten(workflow).dag
    assert dag.arc_count == 10_000
    assert len(dag.children) < 500


def test_prologue_jobs_run_before_anything_of_the_group() -> None:
    workflow = Workflow()
    x = workflow.group("X").before("p").before("q").run("a")
    x.job("K", "k")
    assert names(workflow) == ["X_prologue", "X_prologue#2", "X/K", "X"]
    assert before(workflow, "X/K") == {"X_prologue", "X_prologue#2"}


def test_a_prologue_waits_for_what_its_group_waits_for() -> None:
    workflow = Workflow()
    workflow.job("A", "a")
    x = workflow.group("X", after="A").before("p")
    x.job("K", "k")
    assert arcs(workflow) == {("A", "X_prologue"), ("X_prologue", "X/K")}


def test_epilogue_jobs_run_after_everything_of_the_group() -> None:
    workflow = Workflow()
    x = workflow.group("X").afterwards("e").afterwards("f").run("a", release=True).run("b")
    x.group("K").run("compute", release=True).run("verify")
    assert before(workflow, "X_epilogue") == {"X/K", "X/K#2", "X", "X#2"}
    assert before(workflow, "X_epilogue#2") == {"X/K", "X/K#2", "X", "X#2", "X_epilogue"}


def test_dependent_groups_wait_for_the_epilogue() -> None:
    workflow = Workflow()
    workflow.group("X").run("a").afterwards("e")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X", "X_epilogue"}


def test_a_group_of_a_prologue_alone_runs_it() -> None:
    workflow = Workflow()
    workflow.group("X").before("p").before("q")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X_prologue", "X_prologue#2"}


def test_the_first_job_with_release_lets_dependents_go_on() -> None:
    workflow = Workflow()
    workflow.group("X").run("a").run("b", release=True).run("c", release=True).run("d")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X", "X#2"}


def test_release_set_to_no_releases_nothing() -> None:
    workflow = Workflow()
    workflow.group("X").run("a", release=False).run("b")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X", "X#2"}


def test_an_epilogue_job_can_release() -> None:
    workflow = Workflow()
    workflow.group("X").run("a").afterwards("e", release=True).afterwards("f")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X", "X_epilogue"}


def test_a_prologue_job_releases_nothing_since_it_is_a_group_of_its_own() -> None:
    workflow = Workflow()
    workflow.group("X").before("p", release=True).run("a")
    s = workflow.group("S").before("p", release=True)
    s.job("K", "k")
    workflow.job("Y", "y", after=["X", "S"])
    assert before(workflow, "Y") == {"X_prologue", "X", "S_prologue", "S/K"}


def test_release_passes_through_supergroups_without_jobs_of_their_own() -> None:
    workflow = Workflow()
    inner = workflow.group("X").group("K")
    inner.group("P").run("compute", release=True).run("verify")
    inner.group("Q").run("compute", release=True).run("verify")
    y = workflow.group("Y", after="X")
    y.job("R", "r")
    assert before(workflow, "Y/R") == {"X/K/P", "X/K/Q"}


def test_a_supergroup_with_own_jobs_releases_at_them() -> None:
    workflow = Workflow()
    x = workflow.group("X").run("a").run("b", release=True).run("c")
    x.group("K").run("compute", release=True).run("verify")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X/K", "X/K#2", "X", "X#2"}


def test_a_supergroup_whose_own_jobs_do_not_release_is_waited_for_to_its_end() -> None:
    workflow = Workflow()
    x = workflow.group("X").run("a").run("b")
    x.group("K").run("compute", release=True).run("verify")
    workflow.job("Y", "y", after="X")
    assert before(workflow, "Y") == {"X/K", "X/K#2", "X", "X#2"}


def test_a_group_without_jobs_is_a_milestone() -> None:
    workflow = Workflow()
    workflow.job("A", "a")
    workflow.job("B", "b")
    workflow.group("done", after=["A", "B"])
    workflow.job("C", "c", after="done")
    flat = flatten(workflow)
    assert flat.dag.job_count == 3
    assert flat.jobs[flat.dag.names.index("done")] is None
    assert arcs(workflow) == {("A", "C"), ("B", "C")}


def test_a_supergroup_of_empty_groups_is_waited_through() -> None:
    workflow = Workflow()
    workflow.job("A", "a")
    x = workflow.group("X", after="A")
    x.group("K")
    x.group("L", after="K")
    workflow.job("B", "b", after="X")
    assert arcs(workflow) == {("A", "B")}


def test_a_group_asked_for_its_subgroups_that_has_none_is_a_plain_group() -> None:
    workflow = Workflow()
    assert len(workflow.job("A", "a").groups) == 0
    assert len(flatten(workflow).dag) == 1


def test_a_workflow_of_nothing_is_a_dag_of_nothing() -> None:
    assert len(flatten(Workflow()).dag) == 0


def test_each_node_knows_its_job_and_milestones_know_none() -> None:
    workflow = Workflow()
    x = workflow.group("X").before("p").run("a", seconds=2).afterwards("e")
    x.job("K", "k", seconds=3)
    flat = flatten(workflow)
    commands = {flat.dag.names[node]: job.command for node, job in enumerate(flat.jobs) if job is not None}
    assert commands == {"X_prologue": "p", "X/K": "k", "X": "a", "X_epilogue": "e"}
    assert [job is None for job in flat.jobs] == [bool(flag) for flag in flat.dag.milestones]
    assert flat.dag.work == 5
    assert flat.dag.timed == 2


def test_the_special_nodes_stay_outside_the_order() -> None:
    workflow = Workflow(final=Group("F", [Job("f")]), services=[Group("S", [Job("s")])])
    workflow.job("A", "a")
    assert names(workflow) == ["A"]


# --- names ---------------------------------------------------------------------------------------------------------


def test_jobs_are_named_after_their_group_and_numbered_from_the_second() -> None:
    assert [job_name("X/K", number) for number in range(3)] == ["X/K", "X/K#2", "X/K#3"]


@pytest.mark.parametrize("taken", ["A#2", "A_prologue", "A_epilogue", "A/K"])
def test_a_group_named_like_a_job_made_of_another_group_is_an_error(taken: str) -> None:
    workflow = Workflow()
    a = workflow.group("A").before("p").run("a").run("b").afterwards("e")
    a.job("K", "k")
    workflow.job(taken, "x")
    with pytest.raises(ModelError, match=f'two jobs are called "{taken}"'):
        flatten(workflow)


def test_a_group_named_like_a_path_is_an_error_even_where_no_group_has_two_jobs() -> None:
    workflow = Workflow()
    workflow.group("A").job("B", "b")
    workflow.job("A/B", "x")
    with pytest.raises(ModelError, match='two jobs are called "A/B"'):
        flatten(workflow)


def test_slashes_in_names_are_fine_where_they_meet_no_path() -> None:
    workflow = Workflow()
    workflow.job("out/a.o", "cc")
    workflow.group("out").job("b.o", "cc")
    assert names(workflow) == ["out/a.o", "out/b.o"]


def test_an_error_of_a_workflow_that_was_read_names_its_file() -> None:
    workflow = Workflow(source="some.mq")
    workflow.group("A").run("a").run("b")
    workflow.job("A#2", "x")
    with pytest.raises(InputError, match=r'^some\.mq:1: two jobs are called "A#2"\.'):
        flatten(workflow)


# --- weak arcs -----------------------------------------------------------------------------------------------------


def pair(*weak: bool) -> Flat:
    workflow = Workflow()
    workflow.job("A", "a")
    workflow.job("B", "b")
    for flag in weak:
        workflow.groups.arc(0, 1, weak=flag)
    return flatten(workflow)


def test_a_weak_arc_is_an_arc_that_is_marked() -> None:
    assert list(pair(True).dag.arcs()) == [(0, 1)]
    assert pair(True).weak == {(0, 1)}
    assert pair(False).weak == set()


@pytest.mark.parametrize("order", [(True, False), (False, True), (True, False, True)])
def test_a_strong_arc_on_the_same_pair_wins(order: tuple[bool, ...]) -> None:
    assert pair(*order).weak == set()
    assert list(pair(*order).dag.arcs()) == [(0, 1)]


def test_weak_arcs_between_subgroups_are_marked_too() -> None:
    workflow = Workflow()
    x = workflow.group("X")
    x.job("K", "k")
    x.job("L", "l")
    x.groups.arc(0, 1, weak=True)
    flat = flatten(workflow)
    assert {(flat.dag.names[a], flat.dag.names[b]) for a, b in flat.weak} == {("X/K", "X/L")}


# --- cycles and depth ----------------------------------------------------------------------------------------------


def cyclic(source: str = "") -> Workflow:
    workflow = Workflow(source=source)
    for name in "ABC":
        workflow.group(name).run("x").run("y")
    for parent, child, line in ((0, 1, 4), (1, 2, 5), (2, 0, 7), (0, 1, 9)):
        workflow.groups.arc(parent, child, line)
    return workflow


def test_a_cycle_is_told_in_groups_as_its_user_wrote_it() -> None:
    with pytest.raises(CycleError) as caught:
        flatten(cyclic())
    assert caught.value.names == ["A", "B", "C"]


def test_a_cycle_that_was_read_is_told_at_the_line_that_closed_it() -> None:
    with pytest.raises(InputError) as caught:
        flatten(cyclic("loop.mq"))
    assert str(caught.value) == "loop.mq:7: cycle: A -> B -> C -> A. Remove one of these dependencies."


def test_a_cycle_of_subgroups_is_told_by_their_paths() -> None:
    workflow = Workflow()
    x = workflow.group("S").group("X")
    x.job("K", "k")
    x.job("L", "l", after="K")
    x.groups.arc(1, 0)
    with pytest.raises(CycleError) as caught:
        flatten(workflow)
    assert caught.value.names == ["S/X/K", "S/X/L"]


def test_a_group_that_depends_on_itself_is_told_so() -> None:
    workflow = Workflow(source="self.mq")
    workflow.group("A").run("x", release=True).run("y")
    workflow.groups.arc(0, 0, 3)
    with pytest.raises(InputError, match=r'^self\.mq:3: "A" depends on itself\.'):
        flatten(workflow)


def nested(levels: int) -> Workflow:
    workflow = Workflow()
    group = workflow.group("g")
    for _ in range(levels - 1):
        group = group.group("g")
    group.run("deep")
    return workflow


def test_a_hundred_levels_of_groups_are_read() -> None:
    assert names(nested(100)) == ["/".join(["g"] * 100)]


@pytest.mark.parametrize("levels", [101, 5_000])
def test_more_than_a_hundred_levels_are_an_error(levels: int) -> None:
    with pytest.raises(ModelError, match="nested over 100 levels"):
        flatten(nested(levels))


# --- all of it, naively --------------------------------------------------------------------------------------------


@dataclass
class Naive:
    """The paper's rules taken literally: for every group, which jobs must be complete before which of its own."""

    pairs: set[tuple[int, int]] = field(default_factory=set)

    def precede(self, earlier: Iterable[Job], later: Iterable[Job]) -> None:
        after = list(later)
        self.pairs |= {(id(one), id(two)) for one in earlier for two in after}

    def in_order(self, jobs: list[Job]) -> None:
        for at in range(len(jobs)):
            self.precede(jobs[:at], [jobs[at]])

    def level(self, members: Members, until: list[Job]) -> list[Job]:
        """Applies the rules to a level that starts once `until` are complete; the jobs its release waits for."""
        parents = members.parents_of()
        released: dict[str, list[Job]] = {}
        todo = list(members)
        while todo:
            group = todo.pop(0)
            if any(parent not in released for parent in parents.get(group.name, [])):
                todo.append(group)
                continue
            awaited = [job for parent in parents.get(group.name, []) for job in released[parent]]
            released[group.name] = self.group(group, until + awaited)
        return [job for jobs in released.values() for job in jobs]

    def group(self, group: Group, until: list[Job]) -> list[Job]:
        """Applies the rules to a group that starts once `until` are complete; the jobs its release waits for."""
        prologue, own = list(group.prologue), [*group.jobs, *group.epilogue]
        inner = everything_in(group.groups)
        # "Dependencies between supergroups imply pairwise dependencies between their subgroups."
        self.precede(until, prologue + inner + own)
        # "Jobs within a group will be executed in the order of their submission."
        self.in_order(prologue)
        self.in_order(own)
        # "Prologue jobs are executed before any job of the subgroups of the group is executed."
        self.precede(prologue, inner + own)
        # "Such jobs are executed after all subgroups of the supergroup are completed."
        self.precede(inner, own)
        passed_on = self.level(group.groups, until + prologue)
        if not own:
            return until + prologue + passed_on
        # "... allows the dependent groups to proceed when ... a certain number of jobs are complete."
        flags = [job.release for job in own]
        upto = flags.index(True) + 1 if any(flags) else len(own)
        return until + prologue + inner + own[:upto]


def everything_in(members: Members) -> list[Job]:
    return [job for group in members for job in [*group.all_jobs(), *everything_in(group.groups)]]


def some_jobs(draw: st.DrawFn, most: int) -> list[Job]:
    flags = draw(st.lists(st.booleans(), max_size=most))
    return [Job("x", attributes=RELEASE) if flag else Job("x") for flag in flags]


def fill(draw: st.DrawFn, members: Members, depth: int) -> None:
    """Random groups, and random arcs between them that make no cycle, in no particular order."""
    size = draw(st.integers(0, 4))
    for number in range(size):
        group = Group(f"g{number}", some_jobs(draw, 3))
        if draw(st.booleans()):
            group.prologue = tuple(some_jobs(draw, 2))
            group.epilogue = tuple(some_jobs(draw, 2))
        if depth > 1 and draw(st.booleans()):
            fill(draw, group.groups, depth - 1)
        members.add(group)
    number_of = draw(st.permutations(range(size)))
    for parent in range(size):
        for child in range(parent + 1, size):
            if draw(st.booleans()):
                members.arc(number_of[parent], number_of[child])


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    workflow = Workflow()
    fill(draw, workflow.groups, draw(st.integers(1, 3)))
    return workflow


@given(workflows())
def test_one_job_comes_before_another_exactly_where_the_papers_rules_say_so(workflow: Workflow) -> None:
    naive = Naive()
    naive.level(workflow.groups, [])
    flat = flatten(workflow)
    reached = {
        (id(flat.jobs[above]), id(flat.jobs[node]))
        for node, found in enumerate(ancestors(flat))
        for above in found
        if flat.jobs[node] is not None and flat.jobs[above] is not None
    }
    assert reached == naive.pairs


@given(workflows())
def test_every_job_becomes_one_node(workflow: Workflow) -> None:
    jobs = [id(job) for job in flatten(workflow).jobs if job is not None]
    assert sorted(jobs) == sorted(map(id, everything_in(workflow.groups)))
    assert len(set(names(workflow))) == len(jobs)
