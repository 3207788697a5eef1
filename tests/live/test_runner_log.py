"""A runner's own log: with times, rotated, its user's alone, and read only when something went wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.home.folder import LONGEST_LOG, Home, say
from headway.model.errors import HeadwayError

TIMED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} headway: .*\n")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / ".headway")


@pytest.fixture
def talk(home: Home) -> Iterator[int]:
    handle = home.opened_talk()
    yield handle
    os.close(handle)


def logs(home: Home) -> list[tuple[str, int]]:
    """The files of the log, and who may read and write them."""
    return [(path.name, path.stat().st_mode & 0o777) for path in sorted(home.folder.glob("runner.log*"))]


def test_each_sentence_has_its_time_and_the_last_is_told_without(home: Home, talk: int) -> None:
    say("the disk is full.", (talk,))
    say("ends are kept in the roster: so far.", (talk,))
    lines = home.talk.read_text().splitlines(keepends=True)
    assert len(lines) == 2 and all(TIMED.fullmatch(line) for line in lines)
    assert home.last_words() == "headway: ends are kept in the roster: so far."


def test_it_is_rotated_and_stays_private(home: Home, talk: int) -> None:
    umask = os.umask(0)
    try:
        for number in range(3 * LONGEST_LOG // 1000):
            say(f"{number} {'x' * 1000}", (talk,))
    finally:
        os.umask(umask)
    assert logs(home) == [("runner.log", 0o600), ("runner.log.1", 0o600)]
    old, new = Path(f"{home.talk}.1").read_text(), home.talk.read_text()
    assert len(old) <= LONGEST_LOG and len(new) <= LONGEST_LOG
    told = [int(number) for number in re.findall(r"headway: (\d+) ", old + new)]
    assert told == list(range(told[0], 3 * LONGEST_LOG // 1000)), "something is lost at the seam"
    os.write(talk, b"Traceback\n")  # what the interpreter says goes to the new file too
    assert home.talk.read_text().endswith("Traceback\n")


def test_the_next_runner_begins_another_file_if_much_was_said(home: Home, talk: int) -> None:
    os.write(talk, b"Traceback\n" * LONGEST_LOG)
    os.close(home.opened_talk())
    assert logs(home) == [("runner.log", 0o600), ("runner.log.1", 0o600)] and home.talk.read_text() == ""


def test_a_runner_goes_on_in_the_new_file_if_another_process_has_rotated_it(home: Home, talk: int) -> None:
    os.write(talk, b"x" * (LONGEST_LOG + 1))
    os.close(home.opened_talk())
    say("still here.", (talk,))
    assert TIMED.fullmatch(home.talk.read_text()) and home.last_words() == "headway: still here."


def test_what_somebody_has_put_in_its_place_is_left_alone(home: Home, talk: int, tmp_path: Path) -> None:
    os.write(talk, b"x" * LONGEST_LOG)
    other = tmp_path / "other"
    other.write_text("mine\n")
    home.talk.rename(tmp_path / "runner.log")
    home.talk.symlink_to(other)
    say("goes to the file that was opened.", (talk,))
    assert (
        other.read_text() == "mine\n"
        and "goes to" in (tmp_path / "runner.log.1").read_text() + (tmp_path / "runner.log").read_text()
    )
    with pytest.raises(HeadwayError, match="symbolic link"):
        home.opened_talk()


def test_what_is_no_log_is_told_as_it_is(tmp_path: Path) -> None:
    told = tmp_path / "told"
    with told.open("w") as stream:
        code = "from headway.live.home.folder import say; say('waiting.')"
        subprocess.run([sys.executable, "-c", code], stderr=stream, check=True)
    assert told.read_text() == "headway: waiting.\n"


def test_a_runner_that_has_nothing_to_say_does_not_import_logging() -> None:
    code = "import sys, headway.live.placeholder.process; print({'logging', 'logging.handlers'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_what_is_said_after_the_log_was_deleted_is_in_a_new_one(home: Home, talk: int) -> None:
    say("first.", (talk,))
    home.talk.unlink()
    say("second.", (talk,))
    os.write(talk, b"Traceback\n")
    assert logs(home) == [("runner.log", 0o600)]
    assert re.fullmatch(f"{TIMED.pattern}Traceback\n", home.talk.read_text())


def test_a_log_that_is_another_runners_by_now_is_left_alone(home: Home, talk: int) -> None:
    home.talk.unlink()
    home.talk.write_text("another's\n")
    say("not here.", (talk,))
    assert home.talk.read_text() == "another's\n"
