"""A run at several sites, as its client hears of it: who is waited for, who is warned of, and when it is over."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.client.line import Line
from headway.live.client.lines import Lines
from headway.live.client.messages import REQUESTS, RESPONSES, Failure, Progress, Refusal, Request, Run, Stop
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError
from headway.model.record import replace

AWAY = "site a: h1 refuses the connection. Is its ssh server running?"
RUN = Run(1, 2)
FAILED = Failure("j", 3, "", None)


class Sites:
    """The runners of two sites, at the other ends of their lines."""

    def __init__(self, folder: Path) -> None:
        home = Home(folder)
        pairs = {name: socket.socketpair() for name in "ab"}
        self.ends = {name: theirs for name, (_, theirs) in pairs.items()}
        self.lines = Lines({name: Line(ours, home) for name, (ours, _) in pairs.items()})
        self.lines.say(RUN)
        assert self.heard("a") == self.heard("b") == [RUN]

    def say(self, name: str, said: Progress | Refusal) -> list[Progress]:
        """What the client hears when a runner says something."""
        self.ends[name].send(RESPONSES.encode(said))
        return [one for one in self.lines.news() if isinstance(one, Progress)]

    def heard(self, name: str) -> list[Request]:
        """What a runner has been told."""
        end = self.ends[name]
        end.setblocking(False)
        try:
            return [REQUESTS.decode(line) for line in end.recv(1 << 16).splitlines()]
        except BlockingIOError:
            return []


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Sites]:
    found = Sites(tmp_path)
    yield found
    found.lines.close()
    for end in found.ends.values():
        end.close()


def test_a_site_that_is_away_is_a_warning_once_while_another_one_works(sites: Sites) -> None:
    sites.say("b", Progress(running=2))
    (said,) = sites.say("a", Progress(trouble=AWAY))
    assert said.warnings == [AWAY] and not said.trouble and not said.ended and said.running == 2
    (said,) = sites.say("b", Progress(1, running=2))
    (again,) = sites.say("a", Progress(trouble=AWAY))
    assert not said.warnings and not again.warnings


def test_a_site_that_is_away_is_waited_for_if_jobs_are_left_that_the_other_one_is_not_given(sites: Sites) -> None:
    sites.say("a", Progress(trouble=AWAY))
    (said,) = sites.say("b", Progress(3, ended=True, left=True))
    assert not said.ended and said.trouble == AWAY


def test_a_site_that_is_away_is_not_waited_for_if_the_other_one_says_that_all_is_over(sites: Sites) -> None:
    sites.say("a", Progress(trouble=AWAY))
    (said,) = sites.say("b", Progress(3, ended=True))
    assert said.ended and not said.trouble and said.done == 3


def test_a_site_of_which_nothing_is_known_yet_is_waited_for_whatever_the_other_one_says(sites: Sites) -> None:
    (said,) = sites.say("b", Progress(3, ended=True))
    assert not said.ended
    (said,) = sites.say("a", Progress(ended=True))
    assert said.ended


def test_when_all_sites_are_away_the_run_waits_and_says_for_what(sites: Sites) -> None:
    sites.say("a", Progress(trouble=AWAY))
    (said,) = sites.say("b", Progress(trouble="site b: h2 does not answer."))
    assert not said.ended and said.trouble == AWAY
    assert said.warnings == ["site b: h2 does not answer."]  # of which nothing else tells


def test_when_the_site_that_was_waited_for_works_again_the_other_one_is_asked_again(sites: Sites) -> None:
    sites.say("a", Progress(trouble=AWAY))
    sites.say("b", Progress(3, ended=True, left=True))
    (said,) = sites.say("a", Progress())
    assert not said.ended and not said.trouble and not sites.heard("b")
    (said,) = sites.say("a", Progress(running=1))
    assert not said.ended and sites.heard("b") == [RUN]
    sites.say("a", Progress(1, running=1))
    assert not sites.heard("b")  # once is enough
    sites.say("a", Progress(2, ended=True))
    (said,) = sites.say("b", Progress(4, ended=True))
    assert said.ended and said.done == 6


def test_nobody_is_asked_again_once_the_user_wants_nothing_new_begun(sites: Sites) -> None:
    sites.say("b", Progress(3, ended=True, left=True))
    sites.lines.say(Stop("gently"))
    assert sites.heard("b") == [Stop("gently")]
    (said,) = sites.say("a", Progress(1, running=1))
    assert not said.ended and not sites.heard("b")
    (said,) = sites.say("a", Progress(2, ended=True))
    assert said.ended


def test_a_site_is_asked_again_when_a_job_has_failed_elsewhere_so_fast_that_nobody_was_told_that_it_ran(
    sites: Sites,
) -> None:
    sites.say("a", Progress(trouble=AWAY))
    sites.say("b", Progress(3, ended=True, left=True))
    (said,) = sites.say("a", Progress(failures=[FAILED], ended=True, left=True))
    assert not said.ended and sites.heard("b") == [RUN]  # what waited for its end may be bound to b


def test_nothing_new_begins_anywhere_after_a_failure_if_that_is_what_the_user_wants(sites: Sites) -> None:
    sites.lines.say(replace(RUN, fail_fast=True))
    sites.heard("a"), sites.heard("b")
    sites.say("a", Progress(running=1, failures=[replace(FAILED, final=False)]))
    assert not sites.heard("b")  # it is tried again
    sites.say("a", Progress(running=1, failures=[FAILED]))
    assert sites.heard("a") == sites.heard("b") == [Stop("gently")]
    sites.say("b", Progress(failures=[FAILED], ended=True))
    assert not sites.heard("a")  # once is enough


def test_while_a_site_is_waited_for_the_other_one_is_asked_now_and_then_as_jobs_may_have_been_added(
    sites: Sites,
) -> None:
    assert not sites.lines.is_waiting
    sites.say("a", Progress(trouble=AWAY))
    sites.say("b", Progress(3, ended=True, left=True))
    assert sites.lines.is_waiting
    sites.lines.ask_again()
    assert sites.heard("b") == [RUN]
    assert not sites.lines.is_waiting  # until it has answered
    (said,) = sites.say("b", Progress(3, ended=True, left=True))
    assert said.trouble == AWAY and not said.ended and sites.lines.is_waiting
    sites.lines.say(Stop("gently"))
    sites.heard("b")
    sites.lines.ask_again()
    assert not sites.heard("b")


def test_a_site_that_cannot_be_used_at_all_is_not_waited_for_and_its_reason_is_told(sites: Sites) -> None:
    sites.say("b", Progress(3, ended=True, left=True))
    (said,) = sites.say("a", Refusal(["site a: h1 does not let you in.", "It must work without a question."]))
    assert said.ended
    assert said.warnings == [
        "going on without site a: site a: h1 does not let you in. It must work without a question."
    ]


def test_when_no_site_can_be_used_the_reason_of_the_last_one_is_the_error(sites: Sites) -> None:
    sites.say("b", Refusal(["site b: there is no host h2.", "Correct it."]))
    with pytest.raises(HeadwayError, match="does not let you in"):
        sites.say("a", Refusal(["site a: h1 does not let you in.", "Load your key."]))


def test_a_site_that_drops_out_while_it_is_told_something_is_news_even_if_the_others_say_nothing_more(
    sites: Sites,
) -> None:
    sites.say("a", Progress(running=1))
    sites.say("b", Progress(3, ended=True))
    sites.ends["a"].close()
    sites.lines.say(Stop("gently"))
    assert select.select([sites.lines.fileno()], [], [], 0)[0]
    (said,) = [one for one in sites.lines.news() if isinstance(one, Progress)]
    assert said.ended and said.warnings[0].startswith("going on without site a: ")
    assert not select.select([sites.lines.fileno()], [], [], 0)[0]
