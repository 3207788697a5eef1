"""`mqdump`: the paper's browser, driven by its numbers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.papers.test_trellisdag_figure_3 import STAGES
from tests.shell import answer, headway


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HEADWAY_STORE", raising=False)
    (tmp_path / "stages.sh").write_text(STAGES)
    headway("run", str(tmp_path / "stages.sh"))
    return tmp_path


def typed(folder: Path, *numbers: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "headway.cli.commands.mqdump"],
        cwd=folder,
        input="".join(f"{number}\n" for number in numbers),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def test_the_first_screen_has_the_groups_and_the_papers_eleven_commands(folder: Path) -> None:
    screen = typed(folder, 11)
    assert re.search(r"^0\. +6 +Stage1 +Done +None +2 of 2$", screen, re.M)
    assert re.search(r"^1\. +12 +Stage2 +Failed +None +1 of 2$", screen, re.M)
    assert re.search(r"^2\. +18 +Stage3 +Not started +None +0 of 2$", screen, re.M)
    assert "11. Quit\nCommand?(1-11) " in screen


def test_groups_are_dived_into_and_left(folder: Path) -> None:
    assert re.search(r"^1\. +11 +Stage2/D +Done", typed(folder, 1, 1, 11), re.M)
    assert typed(folder, 1, 1, 9, 11).count("Stage3 ") == 2
    assert "Stage2/C has no groups in it." in typed(folder, 1, 1, 1, 0)


def test_dependencies_are_shown(folder: Path) -> None:
    assert "Stage3 waits for: Stage2/C, Stage2/D" in typed(folder, 2, 2)
    assert "Stage1 waits for: nothing" in typed(folder, 2, 0)


def test_groups_are_changed(folder: Path) -> None:
    screen = typed(folder, 4, 2, 5, 0, 6, 1, 11)
    assert re.search(r"^2\. +18 +Stage3 +Disabled +Disabled", screen, re.M)
    counts = {group["path"]: group["state"] for group in answer("status", cwd=folder)["groups"]}
    assert counts == {"Stage1": "eligible", "Stage2": "done", "Stage3": "disabled"}
    typed(folder, 3, 2)
    assert answer("status", cwd=folder)["groups"][2]["state"] == "eligible"


def test_a_job_that_is_called_as_its_group_is_can_be_changed_alone(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\nmqsub -l A -c true\n")
    headway("run", str(tmp_path / "w.sh"))
    typed(tmp_path, 1, 0, 4, 0)
    assert [one["state"] for one in answer("status", "A", cwd=tmp_path)["groups"]] == ["done", "done"]
    assert "1 changed." in typed(tmp_path, 1, 0, 5, 0)
    assert [one["state"] for one in answer("status", "A", cwd=tmp_path)["groups"]] == ["disabled", "done"]


def test_what_is_no_number_is_asked_again_and_the_end_of_input_ends_it(folder: Path) -> None:
    assert "Expected a number from 1 to 11." in typed(folder, "x", 99, "")
    assert typed(folder).endswith("Command?(1-11) \n")
