"""TrellisDAG, section 3: every figure about groups and their submission (Figs 6-14, and the counts of Fig. 15)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headway import read
from headway.formats import flat, makefile
from headway.formats.makefile.writer import render_calls
from headway.model.errors import InputError, ModelError
from headway.model.flatten import flatten
from headway.model.workflow import Workflow
from tests.texts import Texts

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAPER = ROOT / "../shared/papers/trellisdag.txt"

Order = set[tuple[str, str]]
FIG_12 = """\
mqsub -deps "" -l "2100" -c "2100.sh"
mqsub -deps "2100" -l "1110" -c "1110.sh"
mqsub -deps "1110" -l "0120" -c "0120.sh"
mqsub -deps "2100" -l "2001" -c "2001.sh"
mqsub -deps "2100" -l "2200" -c "2200.sh"
mqsub -deps "1110 2001 2200" -l "1210" -c "1210.sh"
"""
FIG_13 = """\
2100:
	mqsub -deps "" -l "2100" -c "2100.sh"
1110: 2100
	mqsub -deps "2100" -l "1110" -c "1110.sh"
2001: 2100
	mqsub -deps "2100" -l "2001" -c "2001.sh"
0120: 1110
	mqsub -deps "1110" -l "0120" -c "0120.sh"
1011: 1110 2001
	mqsub -deps "1110 2001" -l "1011" -c "1011.sh"
0021: 0120 1011
	mqsub -deps "0120 1011" -l "0021" -c "0021.sh"
"""


def submitted(text: str) -> Workflow:
    return flat.parse("w.sh", Texts({"w.sh": text}))


def order(workflow: Workflow) -> Order:
    """Every pair of jobs of which the first must be done before the second starts, milestones followed."""
    dag = flatten(workflow).dag
    after: dict[int, set[int]] = {}
    for node in reversed(dag.order):
        after[node] = {later for child in dag.children_of(node) for later in (child, *after[child])}
    jobs = set(dag.jobs())
    return {(dag.names[first], dag.names[later]) for first in jobs for later in after[first] & jobs}


def jobs(workflow: Workflow) -> dict[str, tuple[str | None, dict[str, str]]]:
    """Command and attributes of every job by name."""
    graph = flatten(workflow)
    return {
        graph.dag.names[node]: (job.command, dict(job.attributes))
        for node, job in enumerate(graph.jobs)
        if job is not None
    }


def checkers(pieces: int) -> Workflow:
    return read(EXAMPLES / "fig14.py", str(pieces))


# --- 3.1 the group model -------------------------------------------------------------------------------------------


def test_fig_6_the_jobs_of_a_group_are_a_pipeline() -> None:
    workflow = submitted("mqsub -l X -c A\nmqsub -l X -c B\nmqsub -l X -c C\n")
    assert order(workflow) == {("X", "X#2"), ("X", "X#3"), ("X#2", "X#3")}
    assert [command for command, _ in jobs(workflow).values()] == ["A", "B", "C"]


def test_fig_7_a_group_that_depends_on_another_starts_after_its_last_job() -> None:
    workflow = submitted("mqsub -l X -c A\nmqsub -l X -c B\nmqsub -deps X -l Y -c C\nmqsub -l Y -c D\n")
    dag = flatten(workflow).dag
    assert {(dag.names[a], dag.names[b]) for a, b in dag.arcs()} == {("X", "X#2"), ("X#2", "Y"), ("Y", "Y#2")}


def test_fig_8_own_jobs_of_a_supergroup_run_after_all_of_its_subgroups() -> None:
    workflow = submitted(
        "mqsub -l X/K -c k\nmqsub -l X/L/P -c p\nmqsub -l X/L/Q -c q\nmqsub -l X/M -c m\n"
        "mqsub -l X -c A\nmqsub -l X -c B\nmqsub -l X -c C\n"
    )
    inner = {"X/K", "X/L/P", "X/L/Q", "X/M"}
    own = ["X", "X#2", "X#3"]
    pipeline = {("X", "X#2"), ("X", "X#3"), ("X#2", "X#3")}
    assert order(workflow) == {(first, later) for first in inner for later in own} | pipeline


def test_fig_8_even_if_the_own_jobs_are_submitted_first() -> None:
    assert order(submitted("mqsub -l X -c A\nmqsub -l X/K -c k\n")) == {("X/K", "X")}


FIG_9 = "".join(f"mqsub -l {label} -c x\n" for label in ("X/K", "X/L", "X/M", "Y/P", "Y/Q"))


def test_fig_9_groups_of_one_supergroup_may_depend_on_each_other() -> None:
    text = FIG_9 + "mqsub -deps X/K -l X/M\nmqsub -deps L -l X/M\nmqsub -deps P -l Y/Q\n"
    assert order(submitted(text)) == {("X/K", "X/M"), ("X/L", "X/M"), ("Y/P", "Y/Q")}


@pytest.mark.parametrize(("label", "dependency"), [("Y/P", "X/K"), ("Y/P", "X"), ("Y", "X/K")])
def test_fig_9_groups_of_two_supergroups_may_not(label: str, dependency: str) -> None:
    with pytest.raises(InputError, match=rf'^w\.sh:6: "{label}" cannot depend on "{dependency}"'):
        submitted(f"{FIG_9}mqsub -deps {dependency} -l {label}\n")


def test_fig_9_nor_in_python() -> None:
    workflow = Workflow()
    inner = workflow.group("X").job("K", "k")
    with pytest.raises(ModelError, match="not on its level"):
        workflow.group("Y").job("P", "p", after=inner)


def test_fig_10_a_dependency_between_supergroups_implies_one_between_each_pair_of_subgroups() -> None:
    workflow = submitted(
        "".join(f"mqsub -l X/{name} -c x\n" for name in "KLM")
        + "mqsub -deps X -l Y\n"
        + "".join(f"mqsub -l Y/{name} -c y\n" for name in "PQR")
    )
    assert order(workflow) == {(f"X/{first}", f"Y/{later}") for first in "KLM" for later in "PQR"}
    dag = flatten(workflow).dag
    assert all(dag.milestones[first] or dag.milestones[later] for first, later in dag.arcs())  # not pair by pair


def test_prologue_jobs_run_before_the_subgroups_and_epilogue_jobs_last() -> None:
    workflow = submitted(
        "mqsub -l W -c w\nmqsub -deps W -l X -c e -epilogue\nmqsub -l X -c A\nmqsub -l X/K -c k\n"
        "mqsub -l X -c p -prologue\nmqsub -deps X -l Y -c y\n"
    )
    chain = ["W", "X_prologue", "X/K", "X", "X_epilogue", "Y"]
    assert order(workflow) == {(chain[a], chain[b]) for a in range(6) for b in range(a + 1, 6)}


# --- 3.2.1 and 3.2.2 ------------------------------------------------------------------------------------------------

PROMOTIONS_AND_CAPTURES = {
    ("2100", "1110"),
    ("1110", "0120"),
    ("2100", "2001"),
    ("2100", "2200"),
    ("1110", "1210"),
    ("2001", "1210"),
    ("2200", "1210"),
}


def test_fig_12_is_read_line_by_line_and_written_letter_by_letter() -> None:
    workflow = submitted(FIG_12)
    dag = flatten(workflow).dag
    assert {(dag.names[a], dag.names[b]) for a, b in dag.arcs()} == PROMOTIONS_AND_CAPTURES
    assert flat.render(workflow).text == f"#!/bin/sh\n{FIG_12}"


def test_fig_12_groups_have_to_be_submitted_in_a_legal_order() -> None:
    first, *rest = FIG_12.splitlines(keepends=True)
    with pytest.raises(InputError, match=r'^w\.sh:1: "1110" depends on "2100", which no earlier line submits'):
        submitted("".join(rest) + first)


def test_fig_12_at_full_size_begins_as_in_the_paper() -> None:
    assert FIG_12 in (EXAMPLES / "fig12.sh").read_text()
    assert len(read(EXAMPLES / "fig12.sh").groups) == 20


def test_fig_13_at_full_size_begins_as_in_the_paper() -> None:
    text = (EXAMPLES / "fig13.mk").read_text()
    assert f"all: 0022 0031\n\n{FIG_13}" in text


def test_fig_12_and_fig_13_at_full_size_are_one_workflow() -> None:
    script, rules = read(EXAMPLES / "fig12.sh"), read(EXAMPLES / "fig13.mk")
    assert jobs(script) == jobs(rules)
    assert order(script) == order(rules)


# --- 3.2.3 the description script ------------------------------------------------------------------------------------


def test_fig_11_has_20_slices_in_3_supergroups_and_2_thick_arrows() -> None:
    workflow = checkers(4)
    slices = {group.name: [inner.name for inner in group.groups] for group in workflow.groups}
    assert {name: len(inner) for name, inner in slices.items()} == {"VS_2_1": 6, "VS_2_2": 6, "VS_3_1": 8}
    assert workflow.groups.parents_of() == {"VS_2_2": ["VS_2_1"], "VS_3_1": ["VS_2_1"]}
    named = {name.removeprefix("Slice_").replace("_", "") for inner in slices.values() for name in inner}
    assert named == {group.name for group in read(EXAMPLES / "fig12.sh").groups}


def test_fig_15_counts_the_jobs_of_each_supergroup() -> None:
    found = {group.name: sum(len(inner.jobs) for inner in group.groups) for group in checkers(4).groups}
    # The paper's ids: prologue groups 1, 15 and 29, and 14, 28 and 46 after the jobs in between.
    assert found == {"VS_2_1": 14 - 1 - 1, "VS_2_2": 28 - 15 - 1, "VS_3_1": 46 - 29 - 1}


def test_fig_14_at_3_pieces_is_the_first_supergroup_alone() -> None:
    workflow = checkers(3)
    assert [group.name for group in workflow.groups] == ["VS_2_1"]
    assert workflow.groups.groups[0] == checkers(4).groups.groups[0]


@pytest.mark.parametrize(("pieces", "returned", "dropped"), [(3, 14, 7), (4, 46, 21)])
def test_fig_14_returns_dependencies_on_groups_it_never_generates(pieces: int, returned: int, dropped: int) -> None:
    workflow = checkers(pieces)
    kept = sum(len(members.parents) for members in [workflow.groups, *(group.groups for group in workflow.groups)])
    assert (kept + workflow.dropped, workflow.dropped) == (returned, dropped)


def test_fig_14_each_slice_is_computed_then_verified_on_the_same_host() -> None:
    found = jobs(checkers(3))
    assert found["VS_2_1/Slice_2_1_0_0"] == ("2100.comp.sh", {"affinity": "no", "release": "yes"})
    assert found["VS_2_1/Slice_2_1_0_0#2"] == ("2100.ver.sh", {"affinity": "yes", "release": "no"})
    graph = flatten(checkers(3))
    verifying = [job for job in graph.jobs if job is not None and job.affinity]
    assert len(verifying) == 6


def test_fig_14_early_release_lets_slices_go_on_before_the_verification() -> None:
    found = order(checkers(4))
    first, then, other = "VS_2_1/Slice_2_1_0_0", "VS_2_1/Slice_1_1_1_0", "VS_2_2/Slice_2_2_0_0"
    assert (first, then) in found
    assert (f"{first}#2", then) not in found
    assert ("VS_2_1/Slice_0_0_2_1", other) in found  # released through the supergroup's milestone
    assert not any(name.endswith("#2") for name, _ in found)  # nothing at all waits for a verification


def test_without_early_release_a_supergroup_waits_for_every_verification() -> None:
    workflow = checkers(4)
    for _, group in workflow.walk():
        for job in group.jobs:
            job.attributes = {}
    waiting = order(workflow)
    ends = {f"VS_2_1/{inner.name}#2" for inner in workflow.groups.groups[0].groups}
    starts = {f"VS_3_1/{inner.name}" for inner in workflow.groups.groups[2].groups}
    assert {(first, later) for first in ends for later in starts} <= waiting


@pytest.mark.parametrize("pieces", [3, 4])
@pytest.mark.parametrize("form", ["rules", "calls"])
def test_fig_14_becomes_a_makefile_and_a_flat_script_with_one_and_the_same_dag(
    tmp_path: Path, pieces: int, form: str
) -> None:
    described = checkers(pieces)
    rules, script = tmp_path / "checkers.mk", tmp_path / "checkers.sh"
    rules.write_text((makefile.render if form == "rules" else render_calls)(described).text)
    made = read(rules)
    script.write_text(flat.render(made).text)
    flattened = read(script)
    assert flattened.format == "flat"
    assert jobs(described) == jobs(made) == jobs(flattened)
    assert order(described) == order(made) == order(flattened)


@pytest.mark.parametrize("file", ["fig12.sh", "fig13.mk"])
def test_the_order_of_figs_12_and_13_is_contained_in_that_of_fig_14(file: str) -> None:
    workflow = checkers(4)
    computing = {
        inner.name.removeprefix("Slice_").replace("_", ""): f"{group.name}/{inner.name}"
        for group in workflow.groups
        for inner in group.groups
    }
    finer = {(computing[first], computing[later]) for first, later in order(read(EXAMPLES / file))}
    coarser = {pair for pair in order(workflow) if "#" not in pair[1]}
    assert finer < coarser


# --- Fig. 14 as it is printed: Python 2 ------------------------------------------------------------------------------


def test_fig_14_in_python_2_gets_an_error_that_names_the_idiom_and_the_port(tmp_path: Path) -> None:
    script = tmp_path / "old.py"
    text = (EXAMPLES / "fig14.py").read_text().replace("(pieces + 1) // 2", "(pieces + 1) / 2")
    script.write_text(text)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "(pieces + 1) / 2" in line)
    with pytest.raises(InputError, match=rf"old\.py:{line}: / for a whole number is Python 2 .* Write //") as caught:
        read(script, "4")
    assert caught.value.line == line


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's text is not here")
def test_fig_14_verbatim(tmp_path: Path) -> None:
    text = PAPER.read_text().split("Figure 14. The DAG description script")[0].rsplit("```", 2)[1]
    lines = [re.sub(r"^\d+ {0,2}", "", line) for line in text.strip("\n").splitlines()]
    script = tmp_path / "fig14.py"
    script.write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        read(script, "4")
    assert caught.value.line == 26
    assert caught.value.what.startswith("/ for a whole number is Python 2 (TypeError")
    assert caught.value.fix == "Write //, as in (n + 1)//2. Then: string.join in lines 45, 46."
    ported = script.read_text().replace("(np + 1)/2", "(np + 1)//2")
    script.write_text(re.sub(r'string\.join\((map\(str, group\)), ""\)', r'"".join(\1)', ported))
    assert jobs(read(script, "4")) == jobs(checkers(4))
    assert order(read(script, "4")) == order(checkers(4))
