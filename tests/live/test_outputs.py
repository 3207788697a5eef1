"""Files that jobs write to are used again, but never by two at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headway.live.placeholder.outputs import Outputs


@pytest.fixture
def outputs(tmp_path: Path) -> Outputs:
    return Outputs(tmp_path / "logs")


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


def test_a_silent_job_leaves_its_file_to_the_next(outputs: Outputs, tmp_path: Path) -> None:
    first = outputs.take()
    outputs.settle(first, str(tmp_path / "logs/1/0/1.log"), keep=False)
    assert outputs.take() == first and not (tmp_path / "logs/1").exists()


def test_what_a_job_printed_becomes_its_log(outputs: Outputs, tmp_path: Path) -> None:
    first = outputs.take()
    write(first.path, "hello")
    outputs.settle(first, str(tmp_path / "logs/1/0/1.log"), keep=False)
    assert (tmp_path / "logs/1/0/1.log").read_text() == "hello"
    assert outputs.take().path != first.path


def test_a_job_that_failed_in_silence_has_an_empty_log(outputs: Outputs, tmp_path: Path) -> None:
    outputs.settle(outputs.take(), str(tmp_path / "logs/1/0/1.log"), keep=True)
    assert (tmp_path / "logs/1/0/1.log").read_text() == ""


def test_a_daemon_that_still_has_the_file_keeps_it(outputs: Outputs, tmp_path: Path) -> None:
    first = outputs.take()
    daemon = os.open(first.path, os.O_WRONLY)
    outputs.settle(first, str(tmp_path / "logs/1/0/1.log"), keep=False)
    assert outputs.take().path != first.path
    os.write(daemon, b"late")
    os.close(daemon)
    assert (tmp_path / "logs/1/0/1.log").read_text() == "late"


def test_what_a_dead_runner_left_is_kept(outputs: Outputs, tmp_path: Path) -> None:
    write(outputs.take().path, "last words")
    outputs.take()
    Outputs(tmp_path / "logs").clear()
    assert [log.read_text() for log in (tmp_path / "logs/lost").iterdir()] == ["last words"]
    assert not list((tmp_path / "logs/running").iterdir())


def test_a_file_that_was_removed_is_noticed(outputs: Outputs) -> None:
    first = outputs.take()
    Path(first.path).unlink()
    assert outputs.is_lost(first)
    outputs.drop(first)
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(first.handle)


def test_what_a_daemon_wrote_before_its_file_could_go_on_is_the_log(outputs: Outputs, tmp_path: Path) -> None:
    first = outputs.take()
    daemon = os.open(first.path, os.O_WRONLY)
    outputs.settle(first, str(tmp_path / "logs/1/0/1.log"), keep=False)
    os.write(daemon, b"soon")
    os.close(daemon)
    outputs.tidy()
    assert (tmp_path / "logs/1/0/1.log").read_text() == "soon"
    assert outputs.take().path != first.path
