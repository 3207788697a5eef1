"""`headway history`: what a real run leaves, as a table, as JSON, and drawn."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.cli.display.chart import chart
from headway.cli.display.gantt import draw, picture
from headway.live.store.views import Attempt, Member, Web
from headway.model.errors import NotFoundError
from headway.model.messages import JobId, LeaseId
from headway.model.record import replace
from headway.model.states import Kind, State, Step
from tests.live.test_adoption import orphaned
from tests.live.test_crashes_and_company import HOLD, ended, site_of
from tests.shell import answer, headway

FLOW = """\
mqsub -l A -c true
mqsub -deps A -l B -c 'test $HEADWAY_ATTEMPT = 2' -attr retries=3
mqsub -deps A -l C1 -c 'kill -SEGV $$'
mqsub -deps B -l C2 -c 'true'
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a workflow was run."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "w.sh").write_text(FLOW)
    assert headway("run", "w.sh", cwd=folder).returncode == 3
    return folder


def test_every_attempt_is_told(folder: Path) -> None:
    found = answer("history", cwd=folder)
    assert (found["schema"], found["workflow"], found["name"]) == (1, 1, "w")
    ends = {(one["job"], one["attempt"]): (one["exit_code"], one["outcome"]) for one in found["attempts"]}
    assert ends == {
        ("A", 1): (0, "done"),
        ("B", 1): (1, "failed"),
        ("B", 2): (0, "done"),
        ("C1", 1): (-11, "failed"),
        ("C2", 1): (0, "done"),
    }
    for one in found["attempts"]:
        assert one["started"] <= one["ended"] and one["max_rss"] > 0 and one["cpu_seconds"] >= 0
        assert one["host"] and one["site"] == "local" and one["step"] == "main"


def test_jobs_are_chosen_by_name_and_pattern_and_end(folder: Path) -> None:
    def told(*words: str) -> list[tuple[str, int]]:
        return [(one["job"], one["attempt"]) for one in answer("history", *words, cwd=folder)["attempts"]]

    assert told("B") == [("B", 1), ("B", 2)]
    assert sorted(told("C*", "A")) == [("A", 1), ("C1", 1), ("C2", 1)]
    assert sorted(told("--failed")) == [("B", 1), ("C1", 1)]
    assert told("--workflow", "1", "B", "--failed") == [("B", 1)]
    assert told("--workflow", "w.sh", "A") == [("A", 1)]


def test_the_table_has_the_newest_last_and_a_sum(folder: Path) -> None:
    lines = headway("history", cwd=folder).stdout.splitlines()
    assert lines[0].split() == ["started", "job", "try", "host", "took", "CPU", "memory", "ended"]
    assert lines[1].split()[2] == "A" and lines[1].endswith("done")
    assert any("failed (SIGSEGV)" in line for line in lines)
    assert lines[-1].startswith("5 attempts at 4 jobs: 3 done, 2 failed;")


def test_what_is_not_there_is_said_so(folder: Path, tmp_path: Path) -> None:
    done = headway("history", "C", cwd=folder)
    assert done.returncode == 4 and 'has no job "C". Did you mean "C' in done.stderr
    assert headway("history", "--workflow", "7", cwd=folder).returncode == 4
    done = headway("history", cwd=tmp_path)
    assert done.returncode == 4 and "--store" in done.stderr and not list(tmp_path.iterdir())


# --- what did not come to its end -----------------------------------------------------------------------------------


def lines_of(folder: Path) -> dict[str, str]:
    """The rows of the table by job, of first attempts."""
    rows = [line for line in headway("history", cwd=folder).stdout.splitlines() if " 1  " in line]
    return {name: row for row in rows for name in ("A", "B", "C") if f"  {name} " in row}


def test_an_attempt_that_was_lost_with_its_runner_is_shown_with_its_start(tmp_path: Path) -> None:
    (tmp_path / "inner.sh").write_text(f"mqsub -l I -c 'touch begun; {HOLD}'\n")
    site = site_of(tmp_path, f"mqsub -l A -c '{sys.executable} -m headway run inner.sh'")
    before = time.time()
    orphaned(site, "begun")  # and A has waited for that runner
    after = time.time()
    (tmp_path / "go").touch()
    ended(site.start())
    one, _ = answer("history", "--workflow", "w.sh", cwd=tmp_path)["attempts"]
    assert (one["outcome"], one["reason"]) == ("given back", "lost: its runner died")
    assert before <= one["started"] <= after and one["cpu_seconds"] is None
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["started"]))
    row = headway("history", "--workflow", "w.sh", cwd=tmp_path).stdout.splitlines()[1]
    assert row.startswith(f"{began}  A ") and row.endswith("given back: lost: its runner died")


def test_an_attempt_that_was_given_back_before_it_began_says_so(tmp_path: Path) -> None:
    site = site_of(tmp_path, *(f"mqsub -l {name} -c 'touch begun'" for name in "ABC"))
    assert site.fail_at("spawn.before")  # with leases at hand
    ended(site.start())
    unbegun = [one for one in answer("history", cwd=tmp_path)["attempts"] if one["outcome"] == "given back"]
    assert unbegun and {(one["started"], one["reason"]) for one in unbegun} == {(None, "given back")}
    for one in unbegun:
        assert lines_of(tmp_path)[one["job"]].startswith("not started  ")


def test_an_attempt_of_which_nobody_knows_when_it_began_says_so(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'touch begun; test $HEADWAY_ATTEMPT = 2 || sleep 600'")
    orphaned(site, "begun")
    (site.home / "roster").unlink()
    ended(site.start())
    one, _ = answer("history", cwd=tmp_path)["attempts"]
    assert one["started"] is None and lines_of(tmp_path)["A"].startswith("not known  ")


# --- drawn ---------------------------------------------------------------------------------------------------------


def test_a_gantt_chart_is_drawn_with_the_names_of_jobs_and_both_curves(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    done = headway("history", "--gantt", str(path), cwd=folder)
    assert done.returncode == 0, done.stderr
    words = " ".join(ElementTree.parse(path).getroot().itertext())
    assert "5 attempts on" in words and "this run" in words and "minimal schedule" in words and "failed" in words
    again = tmp_path / "y.svg"
    headway("history", "--gantt", str(again), cwd=folder)
    assert again.read_bytes() == path.read_bytes()


def test_a_gantt_chart_may_be_a_png(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    assert headway("history", "--gantt", str(path), cwd=folder).returncode == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_drawn_is_said_so_and_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    done = headway("history", "--gantt", str(tmp_path / "x.bmp"), cwd=folder)
    assert done.returncode == 2 and ".svg, .png, .pdf" in done.stderr
    done = headway("history", "--gantt", str(tmp_path / "no/where.svg"), cwd=folder)
    assert done.returncode == 1 and "cannot be written" in done.stderr
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_way_out_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError\n")
    done = subprocess.run(
        [sys.executable, "-m", "headway", "history", "--gantt", "x.svg"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1 and "-m pip install matplotlib" in done.stderr and done.stdout == ""


def tried(job: int, host: str, started: float | None, ended: float | None, code: int | None = 0) -> Attempt:
    numbers = (None, None, None, None)
    return Attempt(LeaseId(job + 1), JobId(job), f"j{job}", 1, Step.MAIN, host, started, ended, code, *numbers)


def web(size: int, *arcs: tuple[int, int]) -> Web:
    members = [Member(JobId(job), Kind.JOB, State.DONE, None, f"j{job}") for job in range(size)]
    return Web(members, [(JobId(parent), JobId(child)) for parent, child in arcs])


def test_a_chart_has_a_row_for_each_slot_of_each_host() -> None:
    attempts = [
        *(tried(0, "beta", 100.0, 110.0), tried(1, "alpha", 100.0, 104.0), tried(2, "alpha", 102.0, 112.0)),
        *(tried(3, "alpha", 104.0, 106.0), tried(4, "alpha", None, 103.0, None)),
    ]
    found = chart(web(5, (1, 3)), attempts)
    assert found.hosts == [("alpha", 2), ("beta", 1)] and found.rows == 3
    assert [(bar.attempt.name, bar.row, bar.span) for bar in found.bars] == [
        *(("j0", 2, (0.0, 10.0)), ("j1", 0, (0.0, 4.0)), ("j2", 1, (2.0, 12.0)), ("j3", 0, (4.0, 6.0))),
    ]
    assert found.seconds == 12.0 and found.real == [(0.0, 2), (2.0, 3), (6.0, 2), (10.0, 1), (12.0, 0)]
    assert found.minimal_seconds == 10.0
    assert found.minimal == [(0.0, 3), (4.0, 3), (6.0, 2), (10.0, 0)]


def test_a_chart_leaves_long_pauses_out_and_draws_what_runs_until_now() -> None:
    attempts = [tried(0, "h", 0.0, 50.0), tried(1, "h", 90_000.0, 90_050.0), tried(2, "h", 90_010.0, None, None)]
    found = chart(web(3), attempts)
    assert found.pauses == [50.0] and found.seconds == 100.0
    assert [bar.span for bar in found.bars] == [(0.0, 50.0), (50.0, 100.0), (60.0, 100.0)]


@pytest.mark.parametrize(
    "attempts",
    [
        [tried(0, "h", 5.0, 5.0)],
        [tried(0, "h", 5.0, None, None)],
        [replace(tried(0, "h\udcff\n<&", 5.0, 15.0), name="日本\x02\udcff<&$^_{"), tried(1, "b", 5.0, 9.0, 3)],
        [tried(at, f"node{at % 90}", float(at), at + 50.0) for at in range(400)],
    ],
    ids=["no time at all", "still running", "odd names", "many hosts"],
)
def test_whatever_happened_can_be_drawn(tmp_path: Path, attempts: list[Attempt]) -> None:
    path = tmp_path / "x.svg"
    draw(str(path), "o\udcf6\x01<e>&$x_{", web(len(attempts)), attempts)
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_both_curves_are_on_one_scale_of_time() -> None:
    attempts = [tried(at, "h", 100.0 * at, 100.0 * at + 100.0) for at in range(4)]
    figure = picture(chart(web(4), attempts), "w")
    _, left, right = figure.axes
    assert left.get_xlabel() == right.get_xlabel() == "minutes" and left.get_xlim() == right.get_xlim()
    last = [axes.lines[0].get_path().get_extents().x1 for axes in (left, right)]
    assert last == pytest.approx([400 / 60, 100 / 60])


def test_hosts_are_in_the_order_of_their_numbers() -> None:
    attempts = [tried(at, host, 0.0, 1.0) for at, host in enumerate(["node10", "node2", "a", "node2b"])]
    assert [host for host, _ in chart(web(4), attempts).hosts] == ["a", "node2", "node2b", "node10"]


def test_nothing_to_draw_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no job has begun"):
        draw(str(tmp_path / "x.svg"), "w", web(1), [tried(0, "h", None, 3.0, None)])
    assert not list(tmp_path.iterdir())


def test_a_picture_of_many_attempts_stays_small(tmp_path: Path) -> None:
    attempts = [tried(at, f"node{at % 4}", float(at // 4), at // 4 + 1.0) for at in range(12_000)]
    draw(str(tmp_path / "x.svg"), "w", web(len(attempts)), attempts)
    assert (tmp_path / "x.svg").stat().st_size < 1_000_000
