"""The environment of a run is in a private file: jobs get it, others cannot read it, and clean removes it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.home.environments import keep, kept
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.messages import WorkflowId

ONE = WorkflowId(1)


def headway(folder: Path, *words: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "headway", *words],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_jobs_get_it_and_nobody_else_can_read_it_however_shared_the_store_is(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'echo \"$COLOUR\" > out'\n")
    headway(tmp_path, "run", "w.sh", "--share", "all", COLOUR="red\nand blue")
    assert (tmp_path / "out").read_text() == "red\nand blue\n"
    file = tmp_path / ".headway/environments/1"
    assert b"COLOUR=red\nand blue\0" in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    headway(tmp_path, "clean", "--all", "--yes")
    assert not file.exists()


def test_what_is_kept_is_found_again_whatever_bytes_it_has(tmp_path: Path) -> None:
    given = {"A": "", "B": "1=2", "C": os.fsdecode(b"\xff\xfe"), "D": "ä\n"}
    assert keep(tmp_path, ONE, given)
    assert kept(tmp_path, ONE) == {os.fsencode(name): os.fsencode(value) for name, value in given.items()}
    assert keep(tmp_path, ONE, {"E": "5"})
    assert kept(tmp_path, ONE) == {b"E": b"5"}
    assert kept(tmp_path, WorkflowId(2)) is None


def test_where_it_cannot_be_written_that_is_said(tmp_path: Path) -> None:
    assert not keep(tmp_path / "gone", ONE, {"A": "1"})


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "environments").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HeadwayError, match="is a symbolic link"):
        keep(tmp_path, ONE, {"A": "1"})


def test_an_exported_variable_is_in_the_store_and_one_that_is_not_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    headway(tmp_path, "run", "w.sh", "--export", "COLOUR", COLOUR="red")
    store = opened(tmp_path / ".headway/store.db")
    assert store.leases.setting(ONE) == (str(tmp_path), {"COLOUR": "red"})
    store.close()
    with pytest.raises(subprocess.CalledProcessError) as error:
        headway(tmp_path, "run", "w.sh", "--export", "NOSUCH_VARIABLE")
    assert error.value.returncode == 2
    assert "--export NOSUCH_VARIABLE: there is no such variable." in error.value.stderr
    with pytest.raises(subprocess.CalledProcessError) as error:
        headway(tmp_path, "run", "w.sh", "--export", "COLOUR=\x1b[31m", COLOUR="red")
    assert "there is no such variable. Say its name alone." in error.value.stderr and "\x1b" not in error.value.stderr
