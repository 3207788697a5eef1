"""The last lines of a run."""

from __future__ import annotations

import pytest

from headway.cli.display.progress import Display
from headway.live.client.watch import Bounds
from headway.live.runs.selection import Tally
from headway.live.runs.session import Outcome


def last_words(
    seconds: float, capsys: pytest.CaptureFixture[str], before: int = 0, tally: tuple[int, ...] = (1, 0, 0, 0)
) -> str:
    bounds = Bounds(minimal=3.0, total=3.0, slots=2, attempts=1)
    Display(1, before).end(Outcome(Tally(*tally), seconds, bounds, [], None, None), 2, "headway run w.sh --retry")
    return capsys.readouterr().err


def test_a_run_is_compared_with_what_no_run_of_its_jobs_can_beat(capsys: pytest.CaptureFixture[str]) -> None:
    assert "At best 3.00 s" in last_words(3.3, capsys) and "10% over" in last_words(3.3, capsys)


def test_a_run_that_took_over_a_job_is_not_said_to_beat_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "over" not in last_words(2.0, capsys)


@pytest.mark.parametrize(
    ("before", "tally"), [(0, (1, 0, 0, 0)), (1, (1, 0, 0, 0)), (0, (0, 1, 1, 0)), (0, (0, 0, 1, 0))]
)
@pytest.mark.parametrize("seconds", [0.1, 2.0, 3.3])
def test_every_summary_has_both_bounds(
    seconds: float, before: int, tally: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    said = last_words(seconds, capsys, before, tally)
    assert "3.00 s for the longest path, 1.50 s for the work on 2 slots" in said
