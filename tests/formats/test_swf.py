"""Logs in the Standard Workload Format: what is taken, what is left out, and what is said about it."""

from __future__ import annotations

import lzma
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.swf import Log, parse, render
from headway.model.errors import InputError, UsageError
from headway.model.record import replace
from tests.shell import ROOT
from tests.sim.queues import log_of, logs

DATA = (ROOT / "../shared/data/swf").resolve()
HEAD = "; MaxProcs: 8 (of 10)\n;\n"


def line(submit: int = 0, run: float = 10, width: int = 2, request: int = 20, status: int = 1, user: int = 3) -> str:
    return f"1 {submit} -1 {run} {width} -1 -1 {width} {request} -1 {status} {user} -1 -1 -1 -1 -1 -1\n"


def read(text: str, **options: object) -> Log:
    return parse("some.swf", text.splitlines(keepends=True), **options)  # type: ignore[arg-type]


def test_a_log_has_its_jobs_by_submission_and_the_machine_of_its_header() -> None:
    log = read(HEAD + line(5, user=7) + line(9, run=3.5, width=8, user=2) + line(9, user=7))
    assert (log.processors, len(log), log.users, log.warnings) == (8, 3, 2, ())
    assert (list(log.submit), list(log.run), list(log.width)) == ([5, 9, 9], [10, 3.5, 10], [2, 8, 2])
    assert list(log.user) == [0, 1, 0]


@given(logs(), st.sampled_from([0.0, 0.25, 7_661_761.0, 123_456_789.5]))
def test_a_log_that_is_written_reads_the_same(log: Log, later: float) -> None:
    """To the second, too, where times have many digits."""
    moved = replace(log, submit=array("d", [later + one for one in log.submit]))
    again = parse("made up", render(moved).splitlines())
    assert (list(again.submit), list(again.run)) == (list(moved.submit), list(moved.run))
    assert (list(again.width), list(again.request)) == (list(log.width), list(log.request))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("1 2 3\n", "some.swf:3: 3 fields, expected 18. Is this a whole log"),
        (line().replace("20", "twenty"), "some.swf:3: .* has a field that is no number"),
        (line().replace("10", "1x"), "no number"),
        (line()[:20], "some.swf:3: .* fields, expected 18"),
    ],
)
def test_a_malformed_or_truncated_line_is_named(wrong: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(HEAD + wrong)


def test_a_log_without_a_machine_needs_to_be_told_one() -> None:
    with pytest.raises(InputError, match=r"how many processors.*Give --processors N"):
        read(line())
    assert read(line(), processors=4).processors == 4
    with pytest.raises(UsageError, match="a machine of 0 processors"):
        read(line(), processors=0)
    with pytest.raises(UsageError, match=r"a machine of 1e\+20 processors is none"):
        read(f"; MaxProcs: {10**20}\n{line()}")


@pytest.mark.parametrize(
    ("job", "why"),
    [
        (line(run=0), "that ran for 0 seconds"),
        (line(run=-1), "without a run time"),
        (line(width=-1), "without processors"),
        (line(submit=-1), "without a time of submission"),
        (line(width=9), "wider than the 8 processors"),
        (line(status=0), "that did not finish"),
        (line(submit=10**15), "with times of more than 300 years"),  # a fair share would be counted day by day
        (line(run=1e300), "with times of more than 300 years"),
        (line(request=10**12), "with times of more than 300 years"),
        (line(run=float("nan")), "without a run time"),
        (line(run=float("inf")), "without a run time"),
        (line(width=10**30), "wider than the 8 processors"),
        (line(status=3), "that are pieces of others"),
    ],
)
def test_what_cannot_be_replayed_is_left_out_and_counted(job: str, why: str) -> None:
    log = read(HEAD + line() + job + job)
    assert len(log) == 1 and log.warnings == (f"left out: 2 jobs {why}.",)


def test_all_jobs_can_be_asked_for_and_are_taken_where_the_log_does_not_tell_who_finished() -> None:
    assert len(read(HEAD + line() + line(status=0) + line(status=5))) == 1
    assert len(read(HEAD + line() + line(status=0) + line(status=5), jobs="all")) == 3
    assert len(read(HEAD + line(status=-1) + line(status=0))) == 2


def test_missing_requests_are_the_run_times_and_runs_end_at_the_request() -> None:
    log = read(HEAD + line(request=-1) + line(run=30))
    assert (list(log.request), list(log.run)) == ([10, 20], [10, 20])
    assert [warning[:30] for warning in log.warnings] == [
        "1 jobs have no requested time;",
        "1 jobs ran past their requeste",
    ]


def test_an_unsorted_log_is_sorted_with_a_warning() -> None:
    log = read(HEAD + line(9) + line(5))
    assert list(log.submit) == [5, 9] and "not sorted" in log.warnings[0]


def test_an_empty_log_is_a_log() -> None:
    log = read(HEAD)
    assert (len(log), log.users) == (0, 0)


# --- real logs -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not DATA.is_dir(), reason="the logs of the Parallel Workloads Archive are not beside this checkout")
@pytest.mark.parametrize(
    ("name", "processors", "jobs"), [("KTH-SP2-1996-2.1-cln", 100, 28_467), ("SDSC-SP2-1998-4.2-cln", 128, 54_034)]
)
def test_real_logs_have_the_jobs_that_their_notes_say(name: str, processors: int, jobs: int) -> None:
    with lzma.open(DATA / f"{name}.swf.xz", "rt") as lines:
        log = parse(name, lines, jobs="all")
    assert (log.processors, len(log)) == (processors, jobs)
    assert all(run <= request for run, request in zip(log.run, log.request, strict=True))
    assert list(log.submit) == sorted(log.submit)


def test_rows_are_sorted_as_logs_are() -> None:
    assert list(log_of([(3, 1, 1, 1, 0), (1, 1, 1, 1, 0)], 2).submit) == [1, 3]
