"""A folder that is moved, or named through a link, is the same folder: what was done there stays done."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.shell import headway

SUBMIT = "shell = echo $(JOB) >> ledger\nqueue\n"
FLOWS: Mapping[str, Mapping[str, str]] = {
    "flat": {"w.sh": "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'echo B >> ledger'\n"},
    "with an odd name": {"it's a.sh": "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'echo B >> ledger'\n"},
    "dagman": {"w.dag": "JOB A s.sub\nJOB B s.sub\nPARENT A CHILD B\n", "s.sub": SUBMIT},
    "dagman with folders": {
        "w.dag": "JOB A s.sub DIR sub\nJOB B s.sub DIR sub\nPARENT A CHILD B\nSCRIPT POST B /bin/true\n",
        "sub/s.sub": SUBMIT,
    },
    "sub-DAG": {
        "w.dag": "SUBDAG EXTERNAL S inner.dag\n",
        "inner.dag": "JOB A s.sub\nJOB B s.sub\nPARENT A CHILD B\n",
        "s.sub": SUBMIT,
    },
    "makefile": {"Makefile": "b: a\n\techo B >> ledger; touch b\na:\n\techo A >> ledger; touch a\n"},
    "python": {
        "w.py": "from headway import Workflow\nw = Workflow('w')\na = w.job('A', 'echo A >> ledger')\n"
        "w.job('B', 'echo B >> ledger', after=a)\n"
    },
}


def laid_out(folder: Path, files: Mapping[str, str]) -> str:
    """Writes the files of a workflow; the name of the first."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return next(iter(files))


def ledger(folder: Path) -> list[str]:
    return [word for file in sorted(folder.rglob("ledger")) for word in file.read_text().split()]


def run(file: Path, *words: str) -> None:
    done = headway("run", str(file), *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("files", FLOWS.values(), ids=FLOWS.keys())
def test_nothing_runs_again_in_a_folder_that_was_moved(tmp_path: Path, files: Mapping[str, str]) -> None:
    name = laid_out(tmp_path / "before", files)
    run(tmp_path / "before" / name)
    (tmp_path / "deep").mkdir()
    (tmp_path / "before").rename(tmp_path / "deep/after")
    run(tmp_path / "deep/after" / name)
    assert ledger(tmp_path) == ["A", "B"] and not (tmp_path / "before").exists()
    found = json.loads(headway("runs", "--store", str(tmp_path / "deep/after"), "--json").stdout)["workflows"]
    assert all(str(tmp_path / "deep/after") in one["source"] for one in found)


@pytest.mark.parametrize("files", FLOWS.values(), ids=FLOWS.keys())
def test_nothing_runs_again_when_the_folder_is_named_through_a_link(tmp_path: Path, files: Mapping[str, str]) -> None:
    name = laid_out(tmp_path / "real", files)
    (tmp_path / "link").symlink_to("real")
    run(tmp_path / "link" / name)
    run(tmp_path / "real" / name)
    run(tmp_path / "link" / name)
    assert ledger(tmp_path / "real") == ["A", "B"]
    for folder in ("real", "link"):
        file, store = str(tmp_path / folder / name), str(tmp_path / "real")
        assert headway("status", "--workflow", file, "--store", store).returncode == 0
        assert headway("history", "--workflow", file, "--store", store).returncode == 0


def test_what_is_left_to_do_is_done_where_the_folder_is_now(tmp_path: Path) -> None:
    flow = "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'test -e go && echo B >> ledger'\n"
    name = laid_out(tmp_path / "before", {"w.sh": flow})
    assert headway("run", str(tmp_path / "before" / name)).returncode == 3
    (tmp_path / "before").rename(tmp_path / "after")
    (tmp_path / "after/go").touch()
    run(tmp_path / "after" / name, "--retry")
    assert ledger(tmp_path) == ["A", "B"]
    assert headway("run", "--dry-run", str(tmp_path / "after" / name)).stdout.count("skip") == 2


def test_a_copy_is_a_workflow_of_its_own(tmp_path: Path) -> None:
    flow = "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'test -e go && echo B >> ledger'\n"
    name = laid_out(tmp_path / "one", {"w.sh": flow})
    headway("run", str(tmp_path / "one" / name))
    shutil.copytree(tmp_path / "one", tmp_path / "two", ignore=shutil.ignore_patterns("*.sock"))
    (tmp_path / "two/go").touch()
    run(tmp_path / "two" / name, "--retry")
    assert ledger(tmp_path / "one") == ["A"] and ledger(tmp_path / "two") == ["A", "B"]


def test_the_same_file_in_two_folders_is_two_workflows(tmp_path: Path) -> None:
    flow = "mqsub -l A -c 'echo A >> ledger'\n"
    (tmp_path / "common.sh").write_text(flow)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "w.sh").symlink_to(tmp_path / "common.sh")
        run(tmp_path / folder / "w.sh", "--store", str(tmp_path / "store"))
    assert ledger(tmp_path / "one") == ["A"] and ledger(tmp_path / "two") == ["A"]


def test_a_store_of_an_earlier_version_with_absolute_paths_is_gone_on_with(tmp_path: Path) -> None:
    name = laid_out(tmp_path, {"w.sh": "mqsub -l A -c 'echo A >> ledger'\n"})
    run(tmp_path / name)
    with sqlite3.connect(tmp_path / ".headway/store.db") as db:
        db.execute("UPDATE workflows SET source = ?, directory = ?", (str(tmp_path / name), str(tmp_path)))
    run(tmp_path / name)
    assert ledger(tmp_path) == ["A"]
    assert headway("status", "--workflow", str(tmp_path / name), cwd=tmp_path).returncode == 0
