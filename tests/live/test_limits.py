"""Small files that would grow without end when they are read are refused at once, and the limit has a name."""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.reading.read import read
from headway.model.errors import InputError, UsageError
from tests.shell import headway

PIECE = b"# nothing but a remark\n" * 3_000_000  # 69 MB


def bomb(path: Path, times: int = 90) -> Path:
    """Both formats may be repeated in one file: 90 times make 6 GB of one megabyte or, with gzip, of fifteen."""
    packed = lzma.compress(PIECE, preset=0) if path.suffix == ".xz" else gzip.compress(PIECE)
    path.write_bytes(packed * times)
    return path


@pytest.mark.parametrize("name", ["w.dag.xz", "w.dag.gz"])
def test_a_packed_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path / name)
    for source in (str(path), "-"):
        with path.open("rb") as stdin:
            done = subprocess.run(
                [sys.executable, "-m", "headway", "show", source],
                stdin=stdin,
                capture_output=True,
                text=True,
                check=False,
            )
        place = path if source != "-" else "/dev/stdin"
        assert done.returncode == 2
        assert done.stderr == (
            f"{place}:1: the file unpacks to more than 268,435,456 bytes and 200 times its packed size. "
            "If that is meant, set HEADWAY_MOST_UNPACKED to what it may be, such as 20G.\n"
        )


def test_the_limit_of_packed_files_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.dag.xz"
    path.write_bytes(lzma.compress(b"JOB A a.sub\n" + PIECE[:3_000_000]))
    assert [group.name for group in read(path).groups] == ["A"]
    monkeypatch.setenv("HEADWAY_MOST_UNPACKED", "much")
    with pytest.raises(UsageError, match="HEADWAY_MOST_UNPACKED"):
        read(path)
    monkeypatch.setenv("HEADWAY_MOST_UNPACKED", "2M")
    path.touch()  # another version of the file
    with pytest.raises(InputError, match=r"the file unpacks to more than 2,097,152 bytes\."):
        read(path)
    monkeypatch.setenv("HEADWAY_MOST_UNPACKED", "3M")
    assert [group.name for group in read(path).groups] == ["A"]


def multiplying(folder: Path, levels: int, times: int = 10) -> Path:
    (folder / "0.dag").write_text("".join(f"JOB N{at} n.sub\n" for at in range(times)))
    for level in range(1, levels):
        lines = "".join(f"SPLICE S{at} {level - 1}.dag\n" for at in range(times))
        (folder / f"{level}.dag").write_text(lines)
    return folder / f"{levels - 1}.dag"


def test_splices_that_multiply_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = multiplying(tmp_path, 12)
    with pytest.raises(InputError) as refused:
        read(path)
    assert str(refused.value) == (
        f"{path}:1: with its splices the DAG has 1,000,000,000,000 nodes, and the limit is 5,000,000. "
        "Do splices multiply? If that is meant, set HEADWAY_MOST_NODES to a higher number."
    )
    monkeypatch.setenv("HEADWAY_MOST_NODES", "1" + "0" * 12)
    with pytest.raises(InputError, match=r"111,111,111,111 files are taken in, and the limit is 100,000"):
        read(path)
    monkeypatch.setenv("HEADWAY_MOST_NODES", "many")
    with pytest.raises(UsageError, match="HEADWAY_MOST_NODES"):
        read(path)


def test_splices_within_the_limit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = multiplying(tmp_path, 3)
    monkeypatch.setenv("HEADWAY_MOST_NODES", "1000")
    assert len(read(path).groups) == 1000
    monkeypatch.setenv("HEADWAY_MOST_NODES", "999")
    with pytest.raises(InputError, match=r"has 1,000 nodes, and the limit is 999\."):
        read(path)


def test_splices_are_counted_where_dir_and_include_lead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/inner.dag").write_text("JOB A a.sub\nJOB B a.sub\n")
    (tmp_path / "w.dag").write_text("SPLICE X inner.dag DIR d\nINCLUDE more.dag\n")
    (tmp_path / "more.dag").write_text("JOB C a.sub\n")
    monkeypatch.setenv("HEADWAY_MOST_NODES", "2")
    with pytest.raises(InputError, match="has 3 nodes"):
        read(tmp_path / "w.dag")
    monkeypatch.setenv("HEADWAY_MOST_NODES", "3")
    assert read(tmp_path / "w.dag")


def test_nodes_that_queue_too_many_processes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "many.sub").write_text("executable = /bin/true\nqueue 1000000\n")
    (tmp_path / "w.dag").write_text("".join(f"JOB N{at} many.sub\n" for at in range(1000)))
    done = headway("run", "w.dag", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "many.sub:2: 1,000 nodes queue 1,000,000 processes each: 1,000,000,000, and the limit is 5,000,000. "
        "Queue fewer. If that is meant, set HEADWAY_MOST_NODES to a higher number.\n"
    )
