"""Clients that send what kills, files that cannot be trusted, runners that hang: each command ends, and runs go on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.answers.runs import listed
from headway.live.client.asking import is_served
from headway.live.client.door import Door, full, knock
from headway.live.client.line import Line
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError
from tests.live.ledger import Site, until
from tests.live.test_crashes_and_company import HOLD, ended, runs, site_of


def asked(site: Site, words: bytes) -> bytes:
    """What a runner answers to words of any kind, after its greeting, until it closes the line."""
    found = Home(site.home).connect()
    assert found is not None
    with full(found) as line, line.makefile("rwb") as talk:
        assert b"runner" in talk.readline()
        talk.write(words)
        talk.flush()
        return talk.readline()


def under_way(folder: Path) -> tuple[Site, subprocess.Popen[str]]:
    site = site_of(folder, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((folder / "begun").exists)
    return site, process


@pytest.mark.parametrize("lease", ["92233720368547758070", "-9223372036854775809", "-1", "true", '"1"'])
def test_a_lease_that_no_database_takes_is_refused(tmp_path: Path, lease: str) -> None:
    site, process = under_way(tmp_path)
    said = asked(site, b'{"say":{"lease":%s,"store":"","text":"x","ready":false}}\n' % lease.encode())
    assert b"the runner does not understand what was said" in said
    (tmp_path / "go").touch()
    ended(process)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


@pytest.mark.parametrize("trap", ["link", "folder", "open"])
def test_an_environment_that_cannot_be_trusted_ends_one_run_and_not_the_runner(tmp_path: Path, trap: str) -> None:
    site, process = under_way(tmp_path)
    file = site.home / "environments/1"
    if trap == "open":
        file.chmod(0o622)
    else:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere") if trap == "link" else file.mkdir()
    why = {"link": b"is a symbolic link", "folder": b"environments/1", "open": b"other users may write"}
    assert why[trap] in asked(site, b'{"workflow":1,"slots":1}\n')
    (tmp_path / "go").touch()
    ended(process)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Home]:
    """The folder of a runner that lets nobody in, with nowhere left to wait: those who came have gone since."""
    home = Home(tmp_path / ".headway")
    folder = os.open(home.folder, os.O_PATH | os.O_DIRECTORY)
    door = Door(folder)
    while True:
        line = socket.socket(socket.AF_UNIX)
        line.setblocking(False)
        try:
            line.connect(f"/proc/self/fd/{folder}/runner.sock")
        except BlockingIOError:
            break
        finally:
            line.close()
    yield home
    door.socket.close()
    os.close(folder)


def test_nobody_waits_for_ever_at_a_door_that_is_not_answered(crowded: Home) -> None:
    folder = os.open(crowded.folder, os.O_PATH | os.O_DIRECTORY)
    with pytest.raises(TimeoutError):
        knock(folder, 0.05)
    os.close(folder)
    with pytest.raises(HeadwayError, match="the runner does not answer"):
        Line.to(crowded, 0.05)


def test_a_line_waits_no_less_for_having_had_a_limit_at_the_door(tmp_path: Path) -> None:
    home = Home(tmp_path / ".headway")
    folder = os.open(home.folder, os.O_PATH | os.O_DIRECTORY)
    door = Door(folder)
    line = knock(folder, 0.05)
    os.close(folder)
    assert line is not None
    assert not any(line.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, 16))
    line.close()
    door.socket.close()


def test_what_runs_is_listed_though_its_runner_hangs(tmp_path: Path) -> None:
    site, process = under_way(tmp_path)
    store, home, runner = site.store(), Home(site.home, to_look=True), site.runner()
    os.kill(runner, signal.SIGSTOP)
    try:
        found = listed(home, None, store)
        assert found.is_served and is_served(home, store, store.clock())
        assert list(found.busy) == [1] and [run.workflow for run in found.runs] == [1]
    finally:
        os.kill(runner, signal.SIGCONT)
        store.close()
    (tmp_path / "go").touch()
    ended(process)
