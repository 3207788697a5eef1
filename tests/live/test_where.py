"""Which store a command means."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.live.home.store_location import STORE, found_store
from headway.live.store import opened
from headway.model.errors import HeadwayError, NotFoundError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STORE, raising=False)
    monkeypatch.chdir(tmp_path)


def made(folder: Path) -> str:
    store = opened(folder / ".headway")
    store.close()
    return store.id


def test_it_is_the_nearest_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    outer, inner = made(tmp_path), made(tmp_path / "a")
    for folder, expected in (("a/b/c", inner), ("a", inner), (".", outer)):
        monkeypatch.chdir(tmp_path / folder)
        assert found_store()[1].id == expected
        monkeypatch.chdir(tmp_path)


def test_what_is_said_comes_before_the_environment_and_that_before_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, named, said = made(tmp_path), made(tmp_path / "named"), made(tmp_path / "said")
    assert found_store()[1].id == near
    monkeypatch.setenv(STORE, str(tmp_path / "named/.headway"))
    assert found_store()[1].id == named
    assert found_store(str(tmp_path / "said/.headway"))[1].id == said


def test_a_store_is_named_by_its_folder_its_file_a_url_or_the_folder_around_it(tmp_path: Path) -> None:
    mark = made(tmp_path / "w")
    for name in ("w", "w/.headway", "w/.headway/store.db", f"sqlite:///{tmp_path}/w/.headway"):
        home, store = found_store(name)
        assert store.id == mark and home is not None and home.folder == tmp_path / "w/.headway"


def test_where_there_is_none_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no folder \.headway.*--store"):
        found_store()
    with pytest.raises(NotFoundError, match='no store at "nowhere"'):
        found_store("nowhere")
    with pytest.raises(HeadwayError, match="mysql:// is no store"):
        found_store("mysql://host/x")
    assert not list(tmp_path.iterdir())
