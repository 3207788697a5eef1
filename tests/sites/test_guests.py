"""What is wrong with a site, as its clients are told: on the way there, with files, or at the runner there."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from headway.live.client.messages import REQUESTS, RESPONSES, Failure, Progress, Run
from headway.live.sites.guests import Guest

AWAY = "site a: h1 refuses the connection."
FULL = 'site a: "/there/in" cannot be written there: No space left on device.'
NO_ROOM = "site a: a job cannot be started: Resource temporarily unavailable."


class Client:
    """Somebody who wants a workflow run at site a, and what it has been told."""

    def __init__(self) -> None:
        ours, self.line = socket.socketpair()
        self.line.setblocking(False)
        self.guest = Guest(ours, 2, "a")
        self.line.send(REQUESTS.encode(Run(1, 2)))
        self.guest.heard(2)
        assert not self.told()

    def told(self) -> list[Progress]:
        try:
            lines = self.line.recv(1 << 16).splitlines()
        except BlockingIOError:
            return []
        return [said for said in map(RESPONSES.decode, lines) if isinstance(said, Progress)]

    def hears(self, said: Progress) -> Progress:
        """What it is told when the runner there says something."""
        self.guest.pass_on(RESPONSES.encode(said))
        (told,) = self.told()
        return told

    def close(self) -> None:
        self.line.close()
        self.guest.line.close()


@pytest.fixture
def client() -> Iterator[Client]:
    found = Client()
    yield found
    found.close()


def test_what_keeps_the_runner_from_starting_jobs_stays_true_though_files_can_be_copied(client: Client) -> None:
    assert client.hears(Progress(1, 2, trouble=NO_ROOM.removeprefix("site a: "))).trouble == NO_ROOM
    client.guest.worry("")  # as after each look at the files
    assert not client.told()
    assert not client.hears(Progress(1, 2)).trouble


def test_files_that_cannot_be_copied_stay_a_trouble_though_the_runner_has_none(client: Client) -> None:
    client.guest.worry(FULL)
    (told,) = client.told()
    assert told.trouble == FULL
    assert client.hears(Progress(1, 2)).trouble == FULL
    client.guest.worry(FULL)
    assert not client.told()
    client.guest.worry("")
    (told,) = client.told()
    assert not told.trouble and (told.done, told.running) == (1, 2)  # as far as it was before


def test_of_two_troubles_the_other_one_is_told_once_the_first_is_over(client: Client) -> None:
    client.hears(Progress(trouble=NO_ROOM))
    client.guest.worry(FULL)
    assert [one.trouble for one in client.told()] == [FULL]
    client.guest.worry("")
    assert [one.trouble for one in client.told()] == [NO_ROOM]


def test_a_failure_and_a_warning_are_told_once_whatever_is_wrong_later(client: Client) -> None:
    failed = Failure("j", 3, "exit code 3", "/log")
    told = client.hears(Progress(failures=[failed], warnings=["its disk is nearly full."]))
    assert len(told.failures) == len(told.warnings) == 1
    client.guest.worry(AWAY)
    (told,) = client.told()
    assert told.trouble == AWAY and not told.failures and not told.warnings


def test_what_the_runner_said_counts_no_more_once_its_host_is_away(client: Client) -> None:
    client.hears(Progress(3, 2, ended=True, left=True, trouble=NO_ROOM))
    client.guest.lose_runner()
    client.guest.worry(AWAY)
    (told,) = client.told()
    assert told == Progress(3, trouble=AWAY)  # it has not ended: it may have jobs again
    client.guest.worry("")
    assert client.told() == [Progress(3)]
    assert client.hears(Progress(1, 2)) == Progress(4, 2)


def test_a_client_that_asks_again_after_its_end_has_not_ended_whatever_is_wrong_meanwhile(client: Client) -> None:
    client.hears(Progress(3, ended=True, left=True))
    client.line.send(REQUESTS.encode(Run(1, 2)))
    client.guest.heard(2)
    client.guest.worry(FULL)
    assert client.told() == [Progress(3, trouble=FULL)]
