"""Whatever the file, the answer is FILE:LINE: what is wrong. What to do. Exit code 2, no traceback, nothing written."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from headway.formats.registry import FORMATS
from tests.shell import headway

NAMES = {
    "dagman": "x.dag",
    "submit": "x.sub",
    "makefile": "Makefile",
    "flat": "x.sh",
    "description": "x.py",
    "python": "x.py",
    "wfformat": "x.json",
    "dax": "x.dax",
}
READABLE = [format.name for format in FORMATS.values() if format.reads]


def refused(path: Path, *words: str, out: bool = True) -> str:
    """The error for a file, of each way to read one (the quickest only, without `out`); nothing is written."""
    before = sorted(path.parent.iterdir())
    ways = [["show", str(path)]]
    if out:
        ways += [["show", "--json", str(path)], ["convert", str(path), "--to", "dot", "-o", str(path.parent / "out")]]
    for way in ways:
        done = headway(*way, *words)
        assert done.returncode == 2, (way, done.stdout[:300], done.stderr[:300])
        assert not done.stdout
        assert re.match(rf"{re.escape(str(path))}:\d+: .+\. .+", done.stderr), done.stderr[:300]
        assert "Traceback" not in done.stderr and len(done.stderr) < 600
    assert sorted(path.parent.iterdir()) == before
    return done.stderr


def test_every_format_is_tried() -> None:
    assert set(NAMES) == set(READABLE)


@pytest.mark.parametrize("format", READABLE)
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\x7fELF\x00\x01\x02\x00" * 50], ids=["empty", "blank", "binary"])
def test_nothing_of_use_in_a_file(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / NAMES[format]
    path.write_bytes(content)
    refused(path)
    refused(path, "--format", format)


@pytest.mark.parametrize("format", READABLE)
def test_a_file_that_is_not_there(tmp_path: Path, format: str) -> None:
    assert "cannot be read" in refused(tmp_path / NAMES[format])


@pytest.mark.parametrize("format", READABLE)
def test_a_folder_is_no_file(tmp_path: Path, format: str) -> None:
    path = tmp_path / NAMES[format]
    path.mkdir()
    assert "directory" in refused(path)


READERS = ["show", "show --json", "convert --to dot", "order", "run", "run --retries 1", "run --dry-run", "prio"]


@pytest.mark.parametrize(
    ("name", "words"),
    [(NAMES[format], ["show"]) for format in READABLE]
    + [("x.dag", words.split()) for words in READERS]
    + [("x.dag", ["simulate", "grid"]), ("list", ["run", "echo", "--array"])],
)
def test_a_file_that_may_not_be_read(tmp_path: Path, name: str, words: list[str]) -> None:
    path = tmp_path / name
    path.write_text("JOB A a.sub\n")
    path.chmod(0)
    done = headway(*words, str(path), cwd=tmp_path, ordinary=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{path}:1: cannot be read: Permission denied. Check the path.\n"
    assert [left.name for left in tmp_path.iterdir()] == [name]


def test_an_unknown_format(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam\n")
    assert "--format" in refused(path)


@pytest.mark.parametrize("format", READABLE)
def test_a_broken_packed_file(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"{NAMES[format]}.gz"
    path.write_bytes(gzip.compress(os.urandom(100_000))[:50_000])
    refused(path)


@pytest.mark.slow
@pytest.mark.parametrize("format", READABLE)
@pytest.mark.parametrize(
    "start", [b"", b'{"a": "', b"<a b='", b"JOB A a.sub\nPARENT ", b'mqsub -l "', b"[" * 1_000_000]
)
def test_a_hundred_megabytes_of_one_line(tmp_path: Path, format: str, start: bytes) -> None:
    fitting = {b"": READABLE, b'{"a": "': ["wfformat"], b"<a b='": ["dax"], b"JOB A a.sub\nPARENT ": ["dagman"]}
    if format not in fitting.get(start, ["flat"] if b"mqsub" in start else ["wfformat"]):
        return
    path = tmp_path / NAMES[format]
    with path.open("wb") as out:
        out.write(start)
        for _ in range(100):
            out.write(b"a" * 1_000_000)
    refused(path, "--format", format, out=False)
