"""Levels peeled off and grouped so that one group's wait hides behind another's run: batchqueue.txt, Figs 4 and 5.

What the listings leave open is decided in docs/differences.md; a comment names the line it is about.
"""

from __future__ import annotations

import math

from headway.model.messages import Seconds
from headway.model.record import record
from headway.policies.how_much.outline import MINUTE, Advice, Ask, View, whole_minutes

INSIGNIFICANT = 10 * MINUTE  # Fig. 5 line 16: "10 mins"
TOO_LONG = 2.0  # Fig. 4 line 10: a wait that is longer than twice the run


@record
class Candidate:
    """The first levels of what is left, as one request."""

    levels: int
    width: int
    run: Seconds  # once everything before it is done
    asked: Seconds  # with what it will have to wait for its predecessors
    wait: Seconds

    @property
    def effectiveness(self) -> float:
        """Wait over run time: less is better. (Fig. 5 lines 28 to 32.)"""
        return self.wait / self.run if self.run else math.inf

    def ask(self, view: View) -> Ask:
        return Ask(self.width, self.asked, view.left.jobs(self.levels))


def advice(view: View) -> Advice:
    """peelLevel, Fig. 4."""
    whole = plain(view, view.left.height)
    best = grouped(view, whole)
    if best is not None:
        return Advice((best.ask(view),))
    # Lines 10 to 13 have it the other way round; the text says that a long wait means individual submission.
    if whole.wait > TOO_LONG * whole.run:
        return Advice(individually=True)
    return Advice((padded(view, whole).ask(view),))


def grouped(view: View, whole: Candidate) -> Candidate | None:
    """groupLevel, Fig. 5: the first levels that are worth a request of their own; None: no such group."""
    best: Candidate | None = None
    for levels in range(1, view.left.height):  # line 8: the whole is no candidate
        found = padded(view, plain(view, levels))
        exposed = found.wait - view.busy
        if best is None and (exposed if exposed >= 0 else found.wait) > found.run:  # lines 19 to 25
            continue  # it would not run for long enough to hide the next one's wait
        if exposed > 0 and found.effectiveness > min((best or whole).effectiveness, whole.effectiveness):
            break  # lines 27 to 33
        best = found
    return best


def plain(view: View, levels: int) -> Candidate:
    """Some levels, as long as they take."""
    width = view.widest(view.left.width(levels))
    run = view.left.run_time(levels, width)
    return Candidate(levels, width, run, whole_minutes(run), _wait(view, width, whole_minutes(run)))


def padded(view: View, found: Candidate) -> Candidate:
    """Lines 11 to 18: asks for more time where it would begin before its predecessors have ended.

    It ends: each turn asks for more than five minutes more, and the leeway is at most what is not asked for yet.
    """
    asked, wait = found.asked, found.wait
    leeway = view.busy + found.run - (wait + asked)
    while leeway > INSIGNIFICANT:
        asked = whole_minutes(asked + leeway / 2)
        wait = _wait(view, found.width, asked)
        leeway = view.busy + found.run - (wait + asked)
    if leeway > 0:
        asked = whole_minutes(asked + leeway)
    return Candidate(found.levels, found.width, found.run, asked, wait)


def _wait(view: View, width: int, seconds: Seconds) -> Seconds:
    """A wait that cannot be estimated is one for ever."""
    found = view.wait(width, seconds)
    return math.inf if found is None else max(0.0, found)
