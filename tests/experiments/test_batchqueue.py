"""The evaluation of batchqueue.txt on little: made-up logs in the place of the real ones."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from headway.experiments.batchqueue.all import reproduce
from headway.experiments.batchqueue.beyond import add_others, row_of
from headway.experiments.batchqueue.claims import judged
from headway.experiments.batchqueue.dags import CONFIGURATIONS, FAMILIES, configurations, named
from headway.experiments.batchqueue.keeping import COLUMNS, MADE, Kept, alone
from headway.experiments.batchqueue.measuring import Cell, measured, total
from headway.experiments.batchqueue.numbers import Value, all_of, at_least, large, less, share, within
from headway.experiments.batchqueue.plans import METHODS, OURS, PLANS, POLICIES, VARIANTS, Plan
from headway.experiments.batchqueue.standins import CLUSTERS, STAND_INS
from headway.experiments.report import Claim, Report
from headway.formats.swf import render
from headway.model.errors import UsageError
from headway.model.record import replace
from tests.shell import headway
from tests.sim.queues import log_of

LITTLE = Plan("quick", 2, (0,), (0,), ("EMAN", "Gauss"), (VARIANTS[0], VARIANTS[1], VARIANTS[5]))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A busy month on a small machine for each of the logs."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for at, one in enumerate(STAND_INS):
        rows = [(900.0 * job, 2000.0 + 300 * ((job + at) % 9), 1 + job % 12, 9000.0, job % 7) for job in range(3000)]
        with lzma.open(folder / f"{one.log}.swf.xz", "wt") as out:
            out.write(render(log_of(rows, 24)))
    return folder


def ignore(value: float) -> None:
    """Nobody looks."""


def test_a_report_has_claims_tables_and_figures_and_says_how_it_was_made(logs: Path, tmp_path: Path) -> None:
    seen: list[float] = []
    report = reproduce(LITTLE, tmp_path / "out", logs, ignore, seen.append)
    assert sum(seen) == total(LITTLE, logs)
    text = (tmp_path / "out" / "report.md").read_text()
    for figure in (
        "Fig. 10, FCFS",
        "Fig. 11",
        "Fig. 12",
        "Fig. 13",
        "Fig. 15",
        "hybrid+",
        "Estimates",
        "Wrong run times",
    ):
        assert figure in text
    assert "headway reproduce batchqueue --quick --starts 2" in text
    for said in (
        "could not fail: dags and run times were chosen for it",
        "- corrected: hybrid waits less than both, told apart, in ",
        "then the jobs that still waited at its end",
        "(individual over giant)",  # a list of ratios says of what
    ):
        assert said in text
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert found["schema"] == 1 and len(found["claims"]) == len(report.claims) > 20
    assert (tmp_path / "out" / "figure-13.svg").is_file()
    assert all(claim.holds in (True, False, None) for claim in report.claims)


def test_what_was_simulated_is_not_simulated_again_and_more_starts_are_added(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trials"
    folder.mkdir()
    first = {(cell.cluster, cell.policy, cell.variant): cell for cell in measured(LITTLE, logs, folder, ignore)}
    before = {path.name: path.read_text() for path in folder.iterdir()}
    again = list(measured(LITTLE, logs, folder, ignore))
    assert {path.name: path.read_text() for path in folder.iterdir()} == before
    for cell in again:
        mine = first[cell.cluster, cell.policy, cell.variant]
        assert all((cell.found[how] == mine.found[how]).all() for how in cell.found)
    more = next(iter(measured(replace(LITTLE, starts=3), logs, folder, ignore)))
    mine = first[more.cluster, more.policy, more.variant]
    assert more.found["hybrid"].shape[1] == 3
    assert all((more.found[how][:, :2] == mine.found[how]).all() for how in more.found)


def test_a_line_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    one, two = [[1.0] * len(COLUMNS)], [[2.0] * len(COLUMNS)]
    Kept(path).keep("a", one)
    with path.open("a") as out:
        out.write('{"key": "b", "ro')
    kept = Kept(path)
    assert list(kept.rows) == ["a"]
    kept.keep("b", two)
    assert Kept(path).rows == {"a": one, "b": two}


@pytest.mark.parametrize(
    "line",
    [
        '{"key": "a", "rows": [ROW]}',
        '{"key": "a", "made": "0-00000000", "rows": [ROW]}',
        '{"key": "a", "made": "MADE", "rows": [[1.0, 2.0]]}',
        '{"key": "a", "made": "MADE", "rows": [ROW, 3]}',
        '{"key": "a", "made": "MADE", "rows": 7}',
        '{"key": ["a"], "made": "MADE", "rows": [ROW]}',
        '{"key": "a", "made": "MADE", "rows": [NANS]}',
        '{"key": "a", "made": "MADE", "rows": [HUGE]}',
        "[" * 100_000,
        "\x00\xff",
        "null",
    ],
)
def test_a_line_that_another_revision_made_or_that_is_damaged_is_done_again(line: str, tmp_path: Path) -> None:
    row = json.dumps([1.0] * len(COLUMNS))
    line = line.replace("ROW", row).replace("MADE", MADE)
    line = line.replace("NANS", row.replace("1.0", "NaN")).replace("HUGE", row.replace("1.0", "1e999"))
    (tmp_path / "some.jsonl").write_text(line + "\n")
    assert Kept(tmp_path / "some.jsonl").rows == {}


def test_two_at_once_do_not_write_into_the_same_trials(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from headway.experiments.batchqueue.keeping import alone\n"
    script += "with alone(Path(sys.argv[1])): pass\n"
    call = [sys.executable, "-c", script, str(tmp_path)]
    with alone(tmp_path):
        found = subprocess.run(call, capture_output=True, text=True, check=False)
        assert found.returncode and "another process is adding trials" in found.stderr
    assert not subprocess.run(call, check=False).returncode


def test_a_log_that_is_damaged_is_said_with_its_place(logs: Path, tmp_path: Path) -> None:
    damaged = logs / f"{STAND_INS[0].log}.swf.xz"
    damaged.write_bytes(damaged.read_bytes()[:2000])
    found = headway("reproduce", "batchqueue", "--data", str(logs), "-o", str(tmp_path / "out"), "--starts", "2")
    assert found.returncode == 2 and "Traceback" not in found.stderr
    assert f"{STAND_INS[0].log}.swf.xz:" in found.stderr and "cannot be unpacked" in found.stderr


def test_without_some_logs_what_is_said_of_them_stays_open(logs: Path, tmp_path: Path) -> None:
    for one in STAND_INS:
        if one.cluster != "Ada":
            (logs / f"{one.log}.swf.xz").unlink()
    report = reproduce(LITTLE, tmp_path / "out", logs, ignore, ignore)
    found = {claim.id: claim for claim in report.claims}
    for id in (
        "more-RTC",
        "rtc-small",
        "star-fs",
        "margin-lemieux",
        "least-lonestar",
        "policy-cluster",
        "hybrid-least",
    ):
        assert found[id].holds is None


def test_without_any_log_it_says_which_are_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none of the logs is there.*--data: RICC"):
        reproduce(LITTLE, tmp_path / "out", tmp_path, ignore, ignore)


# --- claims ----------------------------------------------------------------------------------------------------------


def cell(cluster: str, rules: str, waits: dict[str, float], noise: float = 0.01) -> Cell:
    """Ten starts of four dags, whose waits are these."""
    dags = (("EMAN", 0), ("EMAN", 24), ("Gauss", 0), ("Gauss", 24))
    draws = np.random.default_rng(1).normal(1, noise, (4, 10))
    found = {}
    for how, wait in waits.items():
        rows = np.zeros((4, 10, len(COLUMNS)))
        for metric in ("wait", "relative_wait", "core_hours", "makespan"):
            rows[:, :, COLUMNS.index(metric)] = wait * draws
        found[how] = rows
    return Cell(cluster, rules, "paper", dags, found)


def cells(waits: dict[str, float]) -> dict[tuple[str, str, str], Cell]:
    return {(one, rules, "paper"): cell(one, rules, waits) for one in CLUSTERS for rules in POLICIES}


def by_id(claims: list[Claim]) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims}


def test_hybrid_is_called_least_where_it_is_and_not_where_it_is_not() -> None:
    good = by_id(judged(cells({"individual": 100.0, "giant": 300.0, "hybrid": 50.0})))
    assert (
        good["hybrid-least"].holds is True
        and good["hybrid-least"].here == "15 of 15 cells, 0 where it does not, 0 open"
    )
    assert good["more-RTC"].holds is True and good["more-Ada"].holds is False
    assert good["saved-ada-fl"].holds is False and good["ada-fl-tie"].holds is False
    bad = by_id(judged(cells({"individual": 100.0, "giant": 300.0, "hybrid": 200.0})))
    assert bad["hybrid-least"].holds is False and bad["hybrid-EMAN"].holds is False


def test_what_noise_hides_is_open() -> None:
    noisy = {
        (one, rules, "paper"): cell(one, rules, {"individual": 100.0, "giant": 300.0, "hybrid": 100.0})
        for one in CLUSTERS
        for rules in POLICIES
    }
    assert by_id(judged(noisy))["hybrid-least"].holds is not True


def test_a_cell_in_which_another_method_waits_less_is_no_tie() -> None:
    there = cells({"individual": 100.0, "giant": 300.0, "hybrid": 50.0})
    there["Ada", "FS", "paper"] = cell("Ada", "FS", {"individual": 20.0, "giant": 300.0, "hybrid": 50.0})
    found = by_id(judged(there))["hybrid-least"]
    assert found.here == "14 of 15 cells, 1 where it does not, 0 open" and found.holds is False


@pytest.mark.parametrize(("under_fs", "holds"), [(60.0, True), (200.0, False)])
def test_policies_that_change_waits_fourfold_on_one_cluster_do_not_matter_little(under_fs: float, holds: bool) -> None:
    there: dict[tuple[str, str, str], Cell] = {}
    for at, one in enumerate(CLUSTERS):
        for rules in POLICIES:
            wait = under_fs if (one, rules) == ("Ada", "FS") else 50.0 * (50 if at == 4 else 1)
            there[one, rules, "paper"] = cell(one, rules, {"individual": 9e5, "giant": 9e5, "hybrid": wait})
    assert by_id(judged(there))["policy-cluster"].holds is holds


@pytest.mark.parametrize(("noise", "holds"), [(0.01, True), (2.0, None)])
def test_what_is_hardly_known_of_small_dags_leaves_open_how_much_worse_large_ones_are(
    noise: float, holds: bool | None
) -> None:
    there = cells({"individual": 100.0, "giant": 300.0, "hybrid": 50.0})
    wide = large(there["RTC", "FL", "paper"])
    factors = 1 + np.random.default_rng(3).normal(0, noise, 10)
    for rules in POLICIES:
        rows = there["RTC", rules, "paper"].found["giant"]
        rows[wide, :, COLUMNS.index("wait")] *= 4
        rows[~wide, :, COLUMNS.index("wait")] *= factors
    found = by_id(judged(there))["rtc-giant-large"]
    assert found.holds is holds
    if holds:
        assert found.here == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(
    ("value", "holds"), [(Value(0.8, 0.75, 0.85), True), (Value(0.8, 0.6, 0.9), None), (Value(0.5, 0.4, 0.6), False)]
)
def test_a_limit_is_reached_missed_or_open(value: Value, holds: bool | None) -> None:
    assert at_least(value, 0.7) is holds
    assert within(value, 0.7, 0.9) is holds


def test_one_no_decides_and_one_open_leaves_open() -> None:
    assert [all_of(some) for some in ([True, True], [True, None], [None, False], [])] == [True, None, False, None]


@pytest.mark.parametrize(
    ("waits", "noise", "holds"),
    [
        ((9.0, 9.0, 5.0), 0.01, True),
        ((9.0, 4.0, 5.0), 0.01, False),
        ((5.01, 9.0, 5.0), 3.0, None),
        ((0, 0, 0), 1, None),
    ],
)
def test_all_methods_wait_least_under_fs_only_if_they_are_told_apart(
    waits: tuple[float, float, float], noise: float, holds: bool | None
) -> None:
    there = cells({"individual": 1.0, "giant": 1.0, "hybrid": 1.0})
    draws = np.random.default_rng(2).normal(0, noise, (3, 10))
    for at, (rules, wait) in enumerate(zip(POLICIES, waits, strict=True)):
        for rows in there["Star", rules, "paper"].found.values():
            rows[:, :, COLUMNS.index("wait")] = wait * (1 + draws[at] / 10)
    assert by_id(judged(there))["star-fs"].holds is holds


def test_comparisons_are_by_pairs_of_starts() -> None:
    mine = cell("Ada", "FL", {"individual": 100.0, "hybrid": 90.0, "giant": 100.0}, noise=0.5)
    assert less([mine], "hybrid", "individual") is True  # the noise is the same for both
    ratio = share([mine], "hybrid", "individual")
    assert ratio is not None and ratio.value == pytest.approx(0.9) and ratio.high - ratio.low < 1e-6


# --- what is simulated -----------------------------------------------------------------------------------------------


def test_the_dags_are_the_papers_as_far_as_it_tells() -> None:
    every = [dag.dag() for family in FAMILIES for dag in configurations()[family]]
    assert len(every) == 125 == len(FAMILIES) * CONFIGURATIONS
    assert (min(dag.width for dag in every), max(dag.width for dag in every)) == (5, 256)
    assert named("eman:3") is configurations()["EMAN"][3] and named("EMAN:25") is None and named("emanuel") is None


def test_the_whole_product_is_that_of_figure_9() -> None:
    plan = PLANS["full"]
    assert len(plan.families) * len(plan.configurations) * len(CLUSTERS) * len(POLICIES) * 3 * plan.starts == 562_500


def test_a_line_of_figure_11_is_that_of_its_log() -> None:
    log = log_of([(0, 3600, 2, 7200, 0), (86400 - 3600, 3600, 4, 3600, 0)], 4)
    found = row_of(log)
    assert (found.jobs_per_day, found.width, found.run_hours, found.request_hours) == (2, 3, 1, 4)
    assert found.load == pytest.approx(6 / 96) and found.request_load == pytest.approx(8 / 96)


def test_the_command_takes_starts_for_batchqueue_only(tmp_path: Path) -> None:
    found = headway("reproduce", "prio", "--starts", "5")
    assert found.returncode == 2 and "--starts is for batchqueue" in found.stderr
    found = headway("reproduce", "batchqueue", "--live")
    assert found.returncode == 2 and "batchqueue has no --live" in found.stderr
    found = headway("reproduce", "batchqueue", "--data", str(tmp_path), "-o", str(tmp_path / "out"))
    assert found.returncode == 2 and "none of the logs is there" in found.stderr


def test_quick_and_full_together_are_refused(tmp_path: Path) -> None:
    found = headway("reproduce", "batchqueue", "--quick", "--full", "-o", str(tmp_path / "out"))
    assert found.returncode == 2 and "--quick, --full, --live and --beyond exclude each other" in found.stderr
    assert not (tmp_path / "out").exists()


def test_what_goes_beyond_the_paper_is_a_report_of_its_own_under_all_policies(logs: Path, tmp_path: Path) -> None:
    plan = replace(
        PLANS["beyond"], starts=2, configurations=(0,), some=(0,), families=("EMAN",), variants=LITTLE.variants
    )
    reproduce(plan, tmp_path / "out", logs, ignore, ignore)
    text = (tmp_path / "out" / "report.md").read_text()
    assert "It judges no claims." in text and "Fig. 10" not in text
    for rules in POLICIES:
        assert f"| corrected | Ada | {rules} |" in text
        assert f"| Ada | {rules} | giant |" in text
    assert f"| {LITTLE.variants[2].name} | Ada | FL |" in text


def test_what_is_done_to_others_counts_those_who_still_wait() -> None:
    """Two jobs started 10 s earlier, and one still waits after an hour: all in all an hour later, not earlier."""
    rows = np.zeros((1, 2, len(COLUMNS)))
    for name, value in {"shifted": 2.0, "shift": -20.0, "held": 1.0, "held_seconds": 3600.0}.items():
        rows[:, :, COLUMNS.index(name)] = value
    report = Report("", "", notes=True)
    cell = Cell("Ada", "FCFS", "paper", (("EMAN", 0),), dict.fromkeys((*METHODS, OURS), rows))
    add_others(report, {("Ada", "FCFS", "paper"): cell}, PLANS["quick"])
    told = ["2.0 by -10 s", "1.0 by at least 3,600 s", "+1.0 h"]
    assert report.data["others"] == {f"Ada, FCFS, {how}": told for how in METHODS}
