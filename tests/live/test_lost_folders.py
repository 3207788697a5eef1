"""The folder of a run is moved or removed under it, or its lock is: the run ends, and says what happened."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.ledger import Site, is_alive, until
from tests.live.test_crashes_and_company import HOLD, ended, runs, site_of
from tests.shell import headway


def project(tmp_path: Path, *lines: str) -> Site:
    folder = tmp_path / "project"
    folder.mkdir()
    return site_of(folder, *lines)


def moved(site: Site, to: Path) -> Site:
    """The same site, where it is now."""
    other = Site.__new__(Site)
    other.__dict__.update(site.__dict__)
    other.folder, other.ledger, other.workflow = to, to / "ledger", to / "w.sh"
    other.home = to / ".headway"
    return other


def is_done(home: Path) -> set[str]:
    runs = json.loads(headway("history", "--store", str(home), "--json").stdout)["attempts"]
    return {one["job"] for one in runs if one["outcome"] == "done"}


def test_a_folder_that_is_renamed_while_a_job_runs_ends_the_run(tmp_path: Path) -> None:
    later = [f"mqsub -deps A -l B{at} -c 'pwd >> {tmp_path}/where'" for at in range(20)]
    site = project(tmp_path, f"mqsub -l A -c 'touch begun; until test -e {tmp_path}/go; do sleep 0.01; done'", *later)
    process = site.start()
    until((site.folder / "begun").exists)
    site.folder.rename(tmp_path / "renamed")
    (tmp_path / "go").touch()
    talk = ended(process, 1)
    assert f"{site.home} was moved to {tmp_path}/renamed/.headway" in talk and "Run again there" in talk
    assert not site.folder.exists(), "Headway has made the folder anew"
    there = moved(site, tmp_path / "renamed")
    there.settled()
    ran = (tmp_path / "where").read_text().split() if (tmp_path / "where").exists() else []
    assert set(ran) <= {str(there.folder)} and len(ran) == len(is_done(there.home) - {"A"})
    again = headway("run", str(there.workflow), "--json")
    assert again.returncode == 0 and json.loads(again.stdout)["done"] == 21, again.stderr
    assert (tmp_path / "where").read_text().split() == [str(there.folder)] * 20


@pytest.mark.parametrize("named", ["", " -attr stdout=out -attr stderr=err"])
def test_another_folder_at_the_same_path_is_not_taken_for_the_first(tmp_path: Path, named: str) -> None:
    site = project(
        tmp_path,
        f"mqsub -l A -c 'touch begun; until test -e {tmp_path}/go; do sleep 0.01; done'",
        f"mqsub -deps A -l B -c 'touch ran'{named}",
    )
    process = site.start()
    until((site.folder / "begun").exists)
    site.folder.rename(tmp_path / "renamed")
    shutil.copytree(tmp_path / "renamed", site.folder, ignore=shutil.ignore_patterns("*.sock"))
    (tmp_path / "go").touch()
    assert "was moved to" in ended(process, 1)
    assert not (site.folder / "ran").exists()
    moved(site, tmp_path / "renamed").settled()
    assert "B" not in is_done(tmp_path / "renamed/.headway")


def test_half_written_outputs_of_jobs_that_end_with_a_move_are_removed_where_they_are_now(tmp_path: Path) -> None:
    site = project(
        tmp_path,
        "mqsub -l A -c 'echo half > result; touch begun; sleep 600' -attr outputs=result",
        f"mqsub -l B -c 'until test -e {tmp_path}/go; do sleep 0.01; done'",
    )
    process = site.start()
    until((site.folder / "begun").exists)
    site.folder.rename(tmp_path / "renamed")
    (tmp_path / "go").touch()
    ended(process, 1)
    moved(site, tmp_path / "renamed").settled()
    assert not (tmp_path / "renamed/result").exists()


@pytest.mark.parametrize("what", [".headway", ".headway/store.db", ".headway/*"])
def test_a_job_that_removes_the_store_ends_the_run(tmp_path: Path, what: str) -> None:
    site = project(
        tmp_path,
        f"mqsub -l A -c 'rm -rf {what}'",
        "mqsub -deps A -l B -c 'touch ran'",
        f"mqsub -l C -c 'echo $$ > pid; {HOLD}'",
    )
    process = site.start()
    talk = ended(process, 1)
    assert ("was removed" in talk and "Run again: it starts from the beginning." in talk) or "Restore it" in talk
    assert not (site.folder / "ran").exists()
    pid = site.folder / "pid"
    if pid.exists() and (text := pid.read_text()):  # it may have been ended before it wrote it
        until(lambda: not is_alive(int(text)))


def test_the_last_job_that_removes_the_store_is_no_success(tmp_path: Path) -> None:
    site = project(tmp_path, "mqsub -l A -c 'rm -rf .headway'")
    assert "was removed while its workflows ran" in ended(site.start(), 1)
    assert not site.home.exists()


def test_whoever_watches_is_told_as_well(tmp_path: Path) -> None:
    site = project(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; rm -rf .headway'")
    process = site.start()
    until((site.folder / "begun").exists)
    command = [sys.executable, "-m", "headway", "attach", "--store", str(site.home)]
    watcher = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert watcher.stderr is not None and "watching workflow 1" in watcher.stderr.readline()
    (site.folder / "go").touch()
    ended(process, 1)
    assert "was removed" in watcher.communicate(timeout=60)[1] and watcher.returncode == 1


def test_a_job_whose_own_directory_is_gone_fails_and_nothing_is_made_for_it(tmp_path: Path) -> None:
    site = project(tmp_path, "mqsub -l A -c 'touch ran' -attr directory=sub")
    assert "1 failed" in ended(site.start(), 3)
    assert not (site.folder / "sub").exists()


# --- the lock -------------------------------------------------------------------------------------------------------


def test_a_lock_that_is_deleted_does_not_let_a_second_runner_end_the_jobs_of_the_first(tmp_path: Path) -> None:
    site = project(tmp_path, f"mqsub -l A -c 'echo begins >> ledger; touch begun; {HOLD}'")
    first = site.start()
    until((site.folder / "begun").exists)
    runner = site.runner()
    (site.home / "lock").unlink()
    (site.home / "runner.sock").unlink()  # so that a second one is wanted
    second = site.start()
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(3)
    assert is_alive(runner)
    second.send_signal(signal.SIGKILL)
    second.communicate()
    (site.folder / "go").touch()
    ended(first)
    until(lambda: not is_alive(runner))
    assert runs(site) == [("A", 1, 0)] and site.ledger.read_text().split() == ["begins"]


def test_a_runner_that_was_killed_leaves_no_lock_on_the_folder(tmp_path: Path) -> None:
    site = project(tmp_path, "mqsub -l A -c 'touch begun; until test -e go; do sleep 0.02; done'")
    first = site.start()
    until((site.folder / "begun").exists)
    os.kill(site.runner(), signal.SIGKILL)
    first.communicate(timeout=60)
    (site.folder / "go").touch()
    ended(site.start())
