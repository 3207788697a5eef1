from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.reading.rewrite import replace_all
from headway.model.errors import HeadwayError


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in "abc":
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def test_all_files_get_their_new_bytes_and_nothing_is_left_beside_them(folder: Path) -> None:
    replace_all([(str(folder / "a"), b"1"), (str(folder / "b"), b"2")])
    assert contents(folder) == {"a": b"1", "b": b"2", "c": b"c"}


def test_mode_and_links_stay(folder: Path) -> None:
    (folder / "a").chmod(0o640)
    (folder / "link").symlink_to("a")
    replace_all([(str(folder / "link"), b"1")])
    assert (folder / "link").is_symlink() and (folder / "a").read_bytes() == b"1"
    assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("problem", ["read-only", "missing", "a folder"])
def test_one_file_that_cannot_be_changed_leaves_all_untouched(folder: Path, problem: str) -> None:
    last = folder / "c"
    if problem == "read-only":
        last.chmod(0o444)
    else:
        last.unlink()
        if problem == "a folder":
            last.mkdir()
    before = contents(folder)
    with pytest.raises(HeadwayError, match=r"cannot be changed: it is .* Nothing was changed"):
        replace_all([(str(folder / name), b"new") for name in "abc"])
    assert contents(folder) == before


def test_a_replacement_that_fails_half_way_takes_the_first_ones_back(folder: Path) -> None:
    before = contents(folder)

    def vanishing() -> Iterator[tuple[str, bytes]]:
        yield str(folder / "a"), b"1"
        yield str(folder / "b"), b"2"
        (folder / "b").unlink()  # all are written aside by now, and none is replaced

    with pytest.raises(HeadwayError, match="Nothing was changed"):
        replace_all(vanishing())
    del before["b"]
    assert contents(folder) == before


def test_an_interruption_leaves_all_untouched(folder: Path) -> None:
    before = contents(folder)

    def interrupted() -> Iterator[tuple[str, bytes]]:
        yield str(folder / "a"), b"1"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_all(interrupted())
    assert contents(folder) == before
