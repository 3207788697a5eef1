"""TrellisDAG, section 1.3: the three tasks that Fig. 3's computation of three stages is to make easy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import answer, headway

STAGES = """\
mqsub -l "Stage1/A" -c "echo A >> ledger"
mqsub -l "Stage1/B" -c "echo B >> ledger"
mqsub -deps "Stage1" -l "Stage2"
mqsub -l "Stage2/C" -c "echo C >> ledger; test -e mended"
mqsub -l "Stage2/D" -c "echo D >> ledger"
mqsub -deps "Stage2" -l "Stage3"
mqsub -l "Stage3/E" -c "echo E >> ledger"
mqsub -l "Stage3/F" -c "echo F >> ledger"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HEADWAY_STORE", raising=False)
    (tmp_path / "stages.sh").write_text(STAGES)
    return tmp_path


def run(folder: Path) -> str:
    """Runs what can be run; the jobs that this ran, in the order of their names."""
    (folder / "ledger").write_text("")
    headway("run", str(folder / "stages.sh"), "--slots", "2")
    return "".join(sorted((folder / "ledger").read_text().split()))


def stage(folder: Path, name: str) -> str:
    return next(str(group["state"]) for group in answer("status", cwd=folder)["groups"] if group["path"] == name)


def test_task_1_the_status_of_the_first_stage_is_it_completed(folder: Path) -> None:
    assert run(folder) == "ABCD"
    assert [stage(folder, f"Stage{number}") for number in (1, 2, 3)] == ["done", "failed", "waiting"]


def test_task_2_only_the_first_two_stages_are_executed(folder: Path) -> None:
    (folder / "mended").touch()
    headway("run", str(folder / "stages.sh"), "--slots", "2")
    answer("disable", "Stage3", cwd=folder)
    answer("redo", "Stage1", cwd=folder)
    assert run(folder) == "ABCD" and stage(folder, "Stage3") == "disabled"
    answer("enable", "Stage3", cwd=folder)
    assert run(folder) == "EF" and stage(folder, "Stage3") == "done"


def test_task_3_the_computation_is_redone_from_the_second_stage_on(folder: Path) -> None:
    """The figure's caption: after errors in the second stage, disable the third and rerun from the second."""
    assert run(folder) == "ABCD" and stage(folder, "Stage2") == "failed"
    answer("disable", "Stage3", cwd=folder)
    (folder / "mended").touch()
    assert answer("redo", "Stage2", cwd=folder)["changed"] == ["Stage2/C", "Stage2/D"]
    assert run(folder) == "CD"
    assert [stage(folder, f"Stage{number}") for number in (1, 2, 3)] == ["done", "done", "disabled"]
    answer("enable", "Stage3", cwd=folder)
    assert run(folder) == "EF"
    assert answer("redo", "Stage2", cwd=folder)["changed"] == [f"Stage{at}" for at in ("2/C", "2/D", "3/E", "3/F")]
    assert run(folder) == "CDEF"
