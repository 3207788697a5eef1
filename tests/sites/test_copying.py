"""Copies over a link on which every answer takes a turn: many side by side, few bytes at once, no file twice."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headway.live.sites.copying import AT_ONCE, BESIDE, PART, PIECE, Copying
from headway.live.sites.frames import Folder, Put, Read, Seal, Seen
from headway.live.sites.front_files import answered
from headway.model.errors import HeadwayError, shown

if TYPE_CHECKING:
    from headway.live.sites.frames import Control


class Link:
    """A far end in the same file system. All that was said before a turn is answered in it."""

    def __init__(self) -> None:
        self.under_way: list[Control] = []
        self.said: list[Control] = []
        self.copying = Copying(self._say)
        self.ended: list[str] = []  # what was copied, or why it could not be
        self.ways: list[str] = []  # out of that
        self.turns = 0
        self.most = 0  # bytes under way

    def _say(self, message: Control) -> None:
        self.said.append(message)
        if not isinstance(message, Folder):
            self.under_way.append(message)

    def done(self, name: str) -> object:
        def ended(error: HeadwayError | None) -> None:
            self.ended.append(name if error is None else error.what)
            self.ways += [] if error is None else [error.fix]

        return ended

    def there(self, name: str, *pairs: tuple[Path, Path]) -> None:
        found = [(str(here), str(there)) for here, there in pairs]
        self.copying.there(found, [], self.done(name))  # type: ignore[arg-type]

    def here(self, name: str, *pairs: tuple[Path, Path]) -> None:
        found = [(str(there), str(here)) for there, here in pairs]
        self.copying.here(found, self.done(name))  # type: ignore[arg-type]

    def turn(self) -> None:
        self.turns += 1
        pieces = [one for one in self.under_way if isinstance(one, (Put, Read))]
        moving = sum(len(one.data) * 3 // 4 if isinstance(one, Put) else PIECE for one in pieces)
        self.most = max(self.most, moving)
        messages, self.under_way = self.under_way, []
        for message in messages:
            answer = answered(message)  # type: ignore[arg-type]
            number = answer.seen if isinstance(answer, Seen) else getattr(answer, "number", None)
            self.copying.heard(-answer.stream if number is None else number, answer)  # type: ignore[union-attr]

    def finish(self) -> None:
        while self.under_way:
            self.turn()


def test_many_small_files_do_not_wait_for_each_other(tmp_path: Path) -> None:
    link, here, there = Link(), tmp_path / "here", tmp_path / "there"
    here.mkdir()
    for number in range(1000):
        (here / f"f{number}").write_text(f"{number}\n")
    link.there("sent", (here, there))
    link.finish()
    assert link.ended == ["sent"] and len(list(there.iterdir())) == 1000
    assert link.turns <= 3 * (1000 // BESIDE + 2)
    before = link.turns
    link.here("home", (there, tmp_path / "home"))
    link.finish()
    assert link.ended == ["sent", "home"]
    assert all((tmp_path / f"home/f{number}").read_text() == f"{number}\n" for number in range(1000))
    assert link.turns - before <= 3 * (1000 // BESIDE + 2)


def test_few_bytes_of_large_files_are_on_their_way_at_once(tmp_path: Path) -> None:
    link, here, there = Link(), tmp_path / "here", tmp_path / "there"
    here.mkdir()
    for number in range(6):
        (here / f"f{number}").write_bytes(bytes([number]) * (3 * PIECE + number))
    link.there("sent", (here, there))
    link.finish()
    assert link.ended == ["sent"] and 0 < link.most <= AT_ONCE + PIECE
    link.here("home", (there, tmp_path / "home"))
    link.finish()
    assert link.ended == ["sent", "home"] and link.most <= AT_ONCE + PIECE
    for number in range(6):
        assert (tmp_path / f"home/f{number}").read_bytes() == (here / f"f{number}").read_bytes()


def test_two_jobs_that_need_the_same_file_at_once_send_it_once(tmp_path: Path) -> None:
    link, here, there = Link(), tmp_path / "in", tmp_path / "there/in"
    here.write_text("data")
    for name in ("one", "two", "three"):
        link.there(name, (here, there))
    link.finish()
    assert link.ended == ["one", "two", "three"] and there.read_text() == "data"
    assert sum(isinstance(message, Put) for message in link.said) == 1


def test_a_file_that_changed_while_another_job_had_it_sent_is_sent_again(tmp_path: Path) -> None:
    link, here, there = Link(), tmp_path / "in", tmp_path / "there/in"
    here.write_text("old")
    link.there("one", (here, there))
    link.turn()
    link.turn()  # its text is there, but not under its name yet
    here.write_text("newer")
    link.there("two", (here, there))
    link.finish()
    assert link.ended == ["one", "two"] and there.read_text() == "newer"


def test_a_file_that_cannot_be_sent_holds_up_only_those_who_need_it(tmp_path: Path) -> None:
    link, here, there = Link(), tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    for name in ("good", "bad"):
        (here / name).write_text(name)
    (there / "bad.headway-part").symlink_to(tmp_path / "elsewhere")  # is not written through
    link.there("both", (here / "good", there / "good"), (here / "bad", there / "bad"))
    link.there("good", (here / "good", there / "good"))
    link.finish()
    assert "good" in link.ended and (there / "good").read_text() == "good"
    (why,) = (one for one in link.ended if one != "good")
    assert "cannot be written there: Too many levels of symbolic links" in why
    assert not (tmp_path / "elsewhere").exists()


LARGE = bytes(range(256)) * (5 * PIECE // 256) + b"end"


def cut_after(link: Link, turns: int) -> None:
    """The connection breaks: what was not answered by then is lost."""
    for _ in range(turns):
        link.turn()


def sent(link: Link) -> int:
    """How many bytes of files went there."""
    return sum(len(base64.b64decode(one.data)) for one in link.said if isinstance(one, Put))


def asked_for(link: Link) -> list[int]:
    """Where in files the pieces begin that were asked for."""
    return [one.at for one in link.said if isinstance(one, Read)]


def half_sent(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A file here, its place there, and the part of it that a connection has left when it broke."""
    here, there, first = tmp_path / "in", tmp_path / "there/in", Link()
    here.write_bytes(LARGE)
    first.there("sent", (here, there))
    cut_after(first, 5)  # two looks, three pieces
    part = there.with_name(f"{there.name}{PART}")
    assert part.stat().st_size == 3 * PIECE and not there.exists()
    return here, there, part


def half_fetched(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The same of a file that comes home: its place there, its place here, the part here."""
    there, here, first = tmp_path / "there", tmp_path / "home/out", Link()
    there.write_bytes(LARGE)
    first.here("home", (there, here))
    cut_after(first, 5)  # a list, a look, three pieces
    part = here.with_name(f"{here.name}{PART}")
    del first  # as in a process that dies, files are closed
    assert part.stat().st_size == 3 * PIECE and not here.exists()
    return there, here, part


def test_after_a_cut_only_the_rest_of_a_file_is_sent(tmp_path: Path) -> None:
    here, there, part = half_sent(tmp_path)
    again = Link()
    again.there("sent", (here, there))
    again.finish()
    assert again.ended == ["sent"] and there.read_bytes() == LARGE and not part.exists()
    assert sent(again) == len(LARGE) - 3 * PIECE


def test_after_a_cut_only_the_rest_of_a_file_is_fetched(tmp_path: Path) -> None:
    there, here, part = half_fetched(tmp_path)
    again = Link()
    again.here("home", (there, here))
    again.finish()
    assert again.ended == ["home"] and here.read_bytes() == LARGE and not part.exists()
    assert asked_for(again) == [3 * PIECE, 4 * PIECE, 5 * PIECE]


@pytest.mark.parametrize("damage", [b"x", LARGE + b"longer than all of it"])
def test_a_part_there_that_was_damaged_is_not_kept(tmp_path: Path, damage: bytes) -> None:
    here, there, part = half_sent(tmp_path)
    with part.open("r+b") as file:
        file.write(damage)
    again = Link()
    again.there("sent", (here, there))
    again.finish()
    assert again.ended == ["sent"] and there.read_bytes() == LARGE and not part.exists()
    assert sent(again) == len(LARGE)


@pytest.mark.parametrize("damage", [b"x", LARGE + b"longer than all of it"])
def test_a_part_here_that_was_damaged_is_not_kept(tmp_path: Path, damage: bytes) -> None:
    there, here, part = half_fetched(tmp_path)
    with part.open("r+b") as file:
        file.write(damage)
    again = Link()
    again.here("home", (there, here))
    again.finish()
    assert again.ended == ["home"] and here.read_bytes() == LARGE and not part.exists()
    assert asked_for(again)[-6:] == [number * PIECE for number in range(6)]


def damaged(part: Path) -> None:
    with part.open("r+b") as file:
        file.write(b"x")


def test_a_part_that_is_damaged_while_the_rest_is_sent_is_noticed_and_sent_anew(tmp_path: Path) -> None:
    here, there, part = half_sent(tmp_path)
    again = Link()
    again.there("sent", (here, there))
    cut_after(again, 3)  # its part was looked at, and found good
    damaged(part)
    again.finish()
    assert again.ended == ["sent"] and there.read_bytes() == LARGE and not part.exists()
    assert sent(again) == len(LARGE) - 3 * PIECE + len(LARGE)


def test_a_part_that_is_damaged_each_time_is_said_to_be_and_not_that_there_is_no_room(tmp_path: Path) -> None:
    here, there, part = half_sent(tmp_path)
    again = Link()
    again.there("sent", (here, there))
    while again.under_way:
        if any(isinstance(one, Seal) for one in again.under_way):
            damaged(part)
        again.turn()
    (why,) = again.ended
    assert why.startswith(f"{shown(str(there))} does not arrive there as it was sent: {shown(str(part))} was changed")
    assert "See what else writes to that file" in again.ways[0] and "room" not in why + again.ways[0]
    assert not there.exists()
    again.there("sent", (here, there))  # as it is tried again
    again.finish()
    assert again.ended[-1] == "sent" and there.read_bytes() == LARGE


def test_nothing_to_copy_is_done_at_once(tmp_path: Path) -> None:
    link = Link()
    ended: list[HeadwayError | None] = []
    link.copying.there([], [], ended.append)
    link.copying.here([], ended.append)
    assert ended == [None, None]
