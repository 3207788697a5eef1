"""What a picture of a run shows, worked out before anything is drawn: bars in rows, and two curves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headway.live.runs.expected_times import measured
from headway.live.store.views import Attempt, Web
from headway.model.record import record
from headway.model.timeline import Curve, Elapsed, Span, concurrency, pauses, slots


@record
class Bar:
    """One attempt: from and to in seconds since the first began, pauses left out, and its row."""

    attempt: Attempt
    span: Span
    row: int


@record
class Chart:
    """The Gantt chart of a run, how many ran at once, and how many would have in the minimal schedule."""

    bars: Sequence[Bar]
    hosts: Sequence[tuple[str, int]]  # each with its number of rows, from the top
    pauses: Sequence[float]  # where time was left out
    seconds: float
    real: Curve
    minimal_seconds: float
    minimal: Curve

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.hosts)


def chart(web: Web, attempts: Sequence[Attempt]) -> Chart:
    """The chart of attempts that began; what still runs is drawn until the last thing that is known.

    What was lost is left out: nobody knows until when it ran.
    """
    begun = [(one, one.started) for one in attempts if one.started is not None and not one.is_lost]
    known = max((max(start, one.ended or start) for one, start in begun), default=0.0)
    times = [(start, known if one.ended is None else max(start, one.ended)) for one, start in begun]
    gaps = pauses(times)
    elapsed = Elapsed(min((start for start, _ in times), default=0.0), gaps)
    spans = [(elapsed(start), elapsed(end)) for start, end in times]
    by_host: dict[str, list[int]] = {}
    for at, (one, _) in enumerate(begun):
        by_host.setdefault(one.host, []).append(at)
    rows, hosts, above = [0] * len(spans), list[tuple[str, int]](), 0
    for host, mine in sorted(by_host.items(), key=lambda pair: _by_number(pair[0])):
        for at, slot in zip(mine, found := slots([spans[at] for at in mine]), strict=True):
            rows[at] = above + slot
        hosts.append((host, max(found) + 1))
        above += hosts[-1][1]
    schedule = measured(web, attempts).minimal_schedule
    return Chart(
        [Bar(one, span, row) for (one, _), span, row in zip(begun, spans, rows, strict=True)],
        hosts,
        [elapsed(start) for start, _ in gaps],
        max((end for _, end in spans), default=0.0),
        concurrency(spans),
        schedule.makespan,
        schedule.concurrency,
    )


def _by_number(host: str) -> list[tuple[int, str]]:
    """The order of hosts: node2 comes before node10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", host)]
