"""A folder that is copied with its store: what the copy does at sites has nothing to do with the original."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.home.folder import Home
from headway.live.sites.origin import become_own, remember
from headway.live.store import SITES, opened
from tests.infra.hosts import Hosts
from tests.sites.bench import Bench


class Near(Hosts):
    """This computer as a site: a runner in a folder of its own, without ssh."""

    def begin(self, count: int) -> None:
        """Nothing has to be started."""


@pytest.fixture
def near() -> Iterator[Near]:
    found = Near(0)
    yield found
    shutil.rmtree(found.folder)


def _bench(near: Near, folder: Path, there: Path) -> Bench:
    bench = Bench(near, folder)
    bench.hosts.environment["XDG_STATE_HOME"] = str(near.folder / "state")
    bench.hosts.environment["XDG_CACHE_HOME"] = str(near.folder / "cache")
    (folder / "headway.toml").write_text(f'[sites.near]\ndirectory = "{there}"\nslots = 1\n')
    return bench


def test_a_copy_of_a_folder_does_not_write_into_the_files_of_the_original_at_a_site(near: Near, tmp_path: Path) -> None:
    first, second, there = tmp_path / "first", tmp_path / "second", tmp_path / "there"
    first.mkdir()
    one = _bench(near, first, there)
    wait = f"cat in > kept; echo begin >> {tmp_path}/ledger; until test -e {tmp_path}/go; do sleep 0.1; done"
    one.script(f"workflow.job('j', {f'{wait}; cat kept > out'!r}, inputs=['in'], outputs=['out'])")
    (first / "in").write_text("first")
    (tmp_path / "go").touch()
    one("run", "w.py", "--site", "near")
    subprocess.run(["cp", "-r", first, second], check=True)
    two = _bench(near, second, there)
    (second / "in").write_text("second")
    (tmp_path / "go").unlink()
    (tmp_path / "ledger").unlink()
    try:
        runs = [bench.begin("run", "w.py", "--site", "near", "--fresh") for bench in (one, two)]
        one.folder = tmp_path  # its ledger
        one.wait_for("begin", 2)
        (tmp_path / "go").touch()
        assert [run.wait(60) for run in runs] == [0, 0]
        assert [(folder / "out").read_text() for folder in (first, second)] == ["first", "second"]
    finally:
        one.folder = first
        one.close()
        two.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The file of a store of which sites know."""
    folder = tmp_path / "first/.headway"
    (folder / SITES / "cluster").mkdir(parents=True)
    for one in (folder.parent, folder, folder / SITES, folder / SITES / "cluster"):
        one.chmod(0o700)
    store = opened(folder / "store.db")
    store.allocations.ask("cluster", 2, 600, 1.0)
    store.close()
    remember(folder / "store.db")
    return folder / "store.db"


def test_a_copy_has_a_mark_of_its_own_and_knows_nothing_of_the_originals_allocations(
    store: Path, tmp_path: Path
) -> None:
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    copy = tmp_path / "second/.headway/store.db"
    remember(copy)  # by somebody who only looked at a log there
    become_own(Home(copy.parent))
    first, second = opened(store), opened(copy)
    assert first.id != second.id
    assert [len(one.allocations.open("cluster")) for one in (first, second)] == [1, 0]
    assert not (copy.parent / SITES / "cluster").exists()
    become_own(Home(copy.parent))
    become_own(Home(store.parent))
    assert (first.id, second.id) == (opened(store).id, opened(copy).id)


def test_a_folder_that_was_moved_keeps_its_mark_and_its_allocations(store: Path, tmp_path: Path) -> None:
    mark = opened(store).id
    shutil.copytree(tmp_path / "first", tmp_path / "second")  # to another disk
    shutil.rmtree(tmp_path / "first")
    moved = tmp_path / "second/.headway/store.db"
    become_own(Home(moved.parent))
    found = opened(moved)
    assert found.id == mark and len(found.allocations.open("cluster")) == 1
