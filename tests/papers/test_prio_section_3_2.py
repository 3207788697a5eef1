"""The PRIO paper, section 3.2 and Fig. 5: what its tool writes."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.shell import answer

IV = (
    "Job a a.submit\nJob b b.submit\nJob c c.submit\nJob d d.submit\nJob e e.submit\n"
    "Parent a Child b\nParent c Child d e\n"
)
SUBMIT = "Executable = foo\nLog = foo.log\n"


def iv(folder: Path) -> Path:
    (folder / "IV.dag").write_text(IV)
    for job in "abcde":
        (folder / f"{job}.submit").write_text(SUBMIT + "Queue\n")
    return folder


def users_lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_figure_3_gives_c_a_b_d_e_the_priorities_5_to_1(tmp_path: Path) -> None:
    found = answer("prio", "IV.dag", cwd=iv(tmp_path))
    assert found["priorities"] == {"c": 5, "a": 4, "b": 3, "d": 2, "e": 1}
    assert users_lines(tmp_path / "IV.dag")[7:] == [
        *("PRIORITY c 5", "PRIORITY a 4", "PRIORITY b 3", "PRIORITY d 2", "PRIORITY e 1")
    ]


def test_figure_3_as_it_was_printed(tmp_path: Path) -> None:
    found = answer("prio", "IV.dag", "--style", "vars", cwd=iv(tmp_path))
    assert found["files_changed"] == ["IV.dag", *(f"{job}.submit" for job in "abcde")]
    assert users_lines(tmp_path / "IV.dag") == [
        *IV.splitlines(),
        *('Vars c JOBPRIORITY="5"', 'Vars a JOBPRIORITY="4"', 'Vars b JOBPRIORITY="3"'),
        *('Vars d JOBPRIORITY="2"', 'Vars e JOBPRIORITY="1"'),
    ]
    # The paper prints the line below Queue, where it has no effect on that job.
    assert users_lines(tmp_path / "a.submit") == [*SUBMIT.splitlines(), "priority = $(JOBPRIORITY)", "Queue"]


def airsn(width: int) -> str:
    """Section 3.3 and Fig. 5: a handle of twenty jobs and the bottleneck, two covers, and a fringe on the first."""
    handle = [f"h{number}" for number in range(1, 22)]
    jobs = [*handle]
    for part in ("fringe", "first"):
        jobs += [f"{part}{number}" for number in range(width)]
    jobs += ["join"] + [f"second{number}" for number in range(width)] + ["last"]
    arcs = [f"{parent} CHILD {child}" for parent, child in itertools.pairwise(handle)]
    for number in range(width):
        arcs += [f"h21 fringe{number} CHILD first{number}", f"first{number} CHILD join"]
        arcs += [f"join CHILD second{number}", f"second{number} CHILD last"]
    return "".join([*(f"JOB {job} a.sub\n" for job in jobs), *(f"PARENT {arc}\n" for arc in arcs)])


def test_airsns_bottleneck_has_priority_753_of_773(tmp_path: Path) -> None:
    (tmp_path / "airsn.dag").write_text(airsn(250))
    (tmp_path / "a.sub").write_text(SUBMIT + "Queue\n")
    found = answer("prio", "airsn.dag", cwd=tmp_path)["priorities"]
    assert len(found) == 773 and found["h21"] == 753
    assert all(found[f"fringe{number}"] < 753 for number in range(250))
    assert len(set(found.values())) == 773
