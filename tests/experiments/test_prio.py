"""The evaluation of prio.txt: its parts on little, and the judging of claims on results made up for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.experiments.paper_dags import airsn
from headway.experiments.prio import efforts, known_times, overhead, real, reasons, verdicts
from headway.experiments.prio.all import PLANS, Plan, reproduce
from headway.experiments.prio.claims import judged
from headway.experiments.prio.dags import READINGS, made, named
from headway.experiments.prio.efforts import POOLED, SINGLE, WIDTHS, Pilot
from headway.experiments.prio.measuring import File, Files, Size, Surface, difference, measured, noise
from headway.experiments.prio.results import Results, digest
from headway.experiments.prio.settings import BATCHES, INTERVALS, SHUFFLES, TIDY, Case
from headway.experiments.report import Claim, Report
from headway.model.dag import Dag
from headway.model.errors import HeadwayError
from headway.sim.comparison import Effort
from headway.sim.grid import METRICS, Workers
from headway.sim.ratios import student
from tests.shell import ROOT, headway

DATA = ROOT.parent / "shared" / "data" / "wf"
LITTLE = Effort(3, 2)
SIZES = {"airsn": 773, "inspiral": 2988, "montage": 7881, "sdss": 48013}


def surface(ratio: float, at: dict[tuple[float, float], float] | None = None, reach: float = 0.001) -> Surface:
    """A dag with the same ratio everywhere, but for some settings."""

    def result(value: float) -> dict[str, Any]:
        paired = (value, value - reach, value + reach)
        return {"ratios": {metric: {"paired": paired} for metric in METRICS}}

    settings = [(interval, batch) for interval in INTERVALS for batch in BATCHES]
    return {setting: result((at or {}).get(setting, ratio)) for setting in settings}


@pytest.mark.parametrize("name", SIZES)
def test_the_dags_have_the_papers_sizes(name: str) -> None:
    found = named(name)
    assert found is not None and found.dag().job_count == SIZES[name]


def test_a_case_is_known_by_what_it_is_not_by_its_name() -> None:
    tidy, shuffled, again = Case("airsn", TIDY), Case("airsn", 1), Case("airsn", TIDY)
    known = [digest(case.model, case.queues) for case in (tidy, shuffled, again)]
    assert known[0] == known[2] != known[1]

    def told(dag: Dag) -> set[tuple[str, str]]:
        return {(dag.names[parent], dag.names[child]) for parent, child in dag.arcs()}

    assert told(tidy.dag) == told(shuffled.dag) and list(tidy.dag.names) != list(shuffled.dag.names)


def test_results_are_measured_once_even_if_a_line_was_cut_short(tmp_path: Path) -> None:
    path, case, workers = tmp_path / "settings.jsonl", Case("airsn", 1), Workers(1.0, 16.0)
    first = Results(path).comparison(case, workers, LITTLE)
    assert len(path.read_text().splitlines()) == 1
    with path.open("a") as out:
        out.write('{"key": "half a li')
    results = Results(path)
    assert results.comparison(case, workers, LITTLE) == json.loads(json.dumps(first))
    results.comparison(case, Workers(1.0, 32.0), LITTLE)
    assert len(path.read_text().splitlines()) == 3
    again = Results(path)
    again.comparison(case, workers, LITTLE)
    again.comparison(case, Workers(1.0, 32.0), LITTLE)
    assert len(path.read_text().splitlines()) == 3


def test_results_that_cannot_be_kept_are_told(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="cannot be"):
        Results(tmp_path).comparison(Case("airsn", 1), Workers(1.0, 16.0), LITTLE)


def file(found: Surface, median: float = 0.84, high: float = 0.86) -> File:
    stated = {"ratios": {"execution_time": {"median": median, "low": median - 0.02, "high": high}}}
    return File(found, np.array([0, 1, 0]), stated)


def test_claims_are_judged_by_intervals() -> None:
    gains = {(interval, 2.0**9): 0.9 for interval in INTERVALS if interval >= 0.1}
    found = {claim.id: claim for claim in judged({"inspiral": surface(1.0, gains), "sdss": surface(1.0)})}
    assert found["gains-inspiral"].holds is True and found["gains-sdss"].holds is False
    assert found["frequent-inspiral"].holds is True and found["frequent-sdss"].holds is False
    assert (found["best-batch-inspiral"].here, found["best-batch-inspiral"].holds) == ("2^9", True)
    assert found["best-batch-sdss"].holds is False and "no advantage" in str(found["best-batch-sdss"].here)
    assert found["about-1-at-2^0-inspiral"].holds is True


def test_a_ratio_off_1_where_it_should_not_be_is_told_with_its_setting() -> None:
    off = {(10.0, 2.0**16): 1.05, (1e-3, 4.0): 0.95, (1e-2, 8.0): 0.9}
    found = {claim.id: claim for claim in judged({"montage": surface(1.0, off)})}
    assert found["about-1-at-2^16-montage"].holds is False
    assert "(10, 2^16) 1.050" in found["about-1-at-2^16-montage"].note
    assert found["frequent-montage"].holds is False and found["about-1-at-2^0-montage"].holds is True
    assert found["about-1-at-10^-2-montage"].holds is False
    assert "(0.01, 2^3) 0.900" in found["about-1-at-10^-2-montage"].note


def test_gains_are_ranked_by_dag() -> None:
    surfaces = {
        name: surface(1.0, {(1.0, 16.0): ratio}) for name, ratio in zip(SIZES, (0.8, 0.9, 0.98, 0.95), strict=True)
    }
    found = {claim.id: claim for claim in judged(surfaces)}
    assert (found["strongest"].here, found["weakest"].here) == ("airsn", "montage")
    del surfaces["airsn"]
    assert "strongest" not in {claim.id for claim in judged(surfaces)}


def over_ten(files: Files) -> dict[str, Claim]:
    report = Report("", "")
    verdicts.add(report, {("airsn", ""): files})
    return {claim.id: claim for claim in report.claims}


def test_one_lucky_shuffle_decides_nothing() -> None:
    """Of ten files four had a median below 0.85; the first was one of them, and the claim held."""
    medians = [0.835, 0.845, 0.848, 0.849, 0.852, 0.853, 0.853, 0.854, 0.855, 0.856]
    files = {at: file(surface(1.0), median) for at, median in zip(SHUFFLES, medians, strict=True)}
    found = over_ten(files | {TIDY: file(surface(1.0), 0.84)})
    claim = found["airsn-median"]
    assert (claim.holds, claim.held, claim.files) == (False, 4, 10)
    assert claim.here == pytest.approx(sum(medians) / 10)
    assert claim.low is not None and claim.high is not None and claim.low < 0.85 < claim.high
    assert "mean alone" in over_ten({**files, 10: file(surface(1.0), 0.84), TIDY: files[1]})["airsn-median"].note
    assert found["airsn-median-as-generated"].holds is True and found["airsn-gain"].held == 10


def test_a_setting_that_is_off_in_few_files_is_judged_by_all() -> None:
    off = surface(1.0, {(1e-3, 4.0): 0.95})
    files = {at: file(off if at == 3 else surface(1.0)) for at in SHUFFLES}
    claim = over_ten(files | {TIDY: file(surface(1.0))})["frequent-airsn"]
    assert (claim.holds, claim.held) == (True, 9)
    files = {at: file(off) for at in SHUFFLES}
    claim = over_ten(files | {TIDY: file(surface(1.0))})["frequent-airsn"]
    assert (claim.holds, claim.held) == (False, 0)


def test_files_that_are_too_noisy_alone_are_an_answer_together() -> None:
    """Every file of SDSS had an interval of ±0.0125, and all ten had the same gain of two hundredths."""
    gains = {(interval, 2.0**13): 0.98 for interval in INTERVALS if interval >= 0.1}
    files = {at: file(surface(1.0, gains, reach=0.0125)) for at in (*SHUFFLES, TIDY)}
    claim = over_ten(files)["gains-airsn"]
    assert (claim.holds, claim.held, claim.unsure) == (True, 0, 10) and claim.count() == "0 of 10, 10 open"


def test_p_and_q_follow_from_the_width_that_an_interval_must_have(tmp_path: Path) -> None:
    assert SINGLE / 10**0.5 * student(9) / 1.96 < POOLED
    few, many = efforts.needed(0.0001, 30, SINGLE), efforts.needed(0.05, 30, SINGLE)
    assert (few.p, few.q) == (6, 1) and many.p == 20 and many.q > 20
    assert efforts.needed(0.05, 30, SINGLE / 2).q == pytest.approx(4 * many.q, rel=0.05)
    results = Results(tmp_path / "settings.jsonl")
    case, workers = Case("airsn", 1), Workers(10.0, 64.0)  # one of the noisiest
    plan = efforts.efforts(case, SINGLE, Pilot(), results, lambda jobs: None)
    ratio, low, _ = results.comparison(case, workers, plan[10.0, 64.0])["ratios"]["execution_time"]["paired"]
    assert ratio - low < 1.5 * SINGLE
    assert all(plan.widths is WIDTHS for plan in (PLANS["quick"].size, PLANS["full"].size))


def test_a_setting_that_turns_out_too_noisy_is_measured_anew(tmp_path: Path) -> None:
    """At p = 16 and q = 3 the answers on SDSS were too noisy to tell."""
    results, noisy = Results(tmp_path / "settings.jsonl"), (10.0, 64.0)
    size = Size({"airsn": SINGLE}, shuffles=(1, 2, 3), stated=LITTLE)
    [(_, files)] = measured(size, {("airsn", ""): {noisy: Effort(6, 1)}}, results, lambda jobs: None)
    surfaces = [files[at].surface[noisy] for at in (1, 2, 3)]
    assert noise(surfaces) < 1.2 * POOLED and noise([files[TIDY].surface[noisy]]) < 1.2 * POOLED
    first = [results.comparison(Case("airsn", at), Workers(*noisy), Effort(6, 1, at)) for at in (1, 2, 3)]
    assert noise(first) > 3 * POOLED


@pytest.mark.parametrize("name", READINGS)
def test_every_reading_has_the_papers_size(name: str) -> None:
    assert {len(made(name, reading).jobs) for reading in READINGS[name]} == {SIZES[name]}
    assert made(name).edges == made(name, next(iter(READINGS[name]))).edges


def test_the_readings_stand_beside_each_other() -> None:
    off = surface(1.0, {(1e-3, 8.0): 0.95})
    found = {
        ("sdss", ""): {at: file(surface(1.0)) for at in (*SHUFFLES, TIDY)},
        ("sdss", "window"): {at: file(off) for at in SHUFFLES},
    }
    report = Report("", "")
    verdicts.add(report, found)
    verdicts.add_readings(report, found)
    [row] = [part for part in report.parts[-2].splitlines() if part.startswith("| frequent-sdss |")]
    assert "no 0 of 10 | 0.950 to 1.000 **yes** 10 of 10" in row
    given = {claim.id: claim for claim in reasons.given(report.claims, found)}
    assert given["frequent-sdss-window"].holds is True and given["frequent-sdss-window"].variant_of == "frequent-sdss"
    assert "*window* it holds" in given["frequent-sdss"].reason


def test_all_that_does_not_hold_is_listed_with_its_reason(tmp_path: Path) -> None:
    off = {(1e-2, 1.0): 0.9, (1e-3, 1.0): 0.9}
    found = {
        (name, ""): {at: file(surface(1.0, off), 0.9, 0.95) for at in (*SHUFFLES, TIDY)}
        for name in ("airsn", "montage", "sdss")
    }
    report = Report("", "")
    verdicts.add(report, found)
    report.claims = reasons.given(report.claims, found)
    broken = [claim for claim in report.claims if claim.holds is False]
    assert len(broken) > 10 and all(claim.reason for claim in broken)
    assert not any(claim.reason for claim in report.claims if claim.holds)
    report.write(tmp_path)
    head = (tmp_path / "report.md").read_text().split("## ")[0]
    for claim in broken:
        assert f"- {claim.variant_of or claim.id}: " in head and claim.reason in head
    assert "about-1-at-10^-2-airsn" in head and "100 workers come in the time of one job" in head


def test_the_difference_of_eligible_jobs_begins_and_ends_at_nothing() -> None:
    dag = airsn(30).dag()
    found = difference(dag)
    assert found[0] == found[-1] == 0 and found.max() > 0 and len(found) == dag.job_count + 1


def test_known_times_compare_all_orders_on_the_same_run_times(tmp_path: Path) -> None:
    dag = airsn(8).dag()
    chosen = known_times.subjects({"small": dag}, draws=1)
    assert [sum(subject.dag.seconds) / dag.job_count for subject in chosen] == pytest.approx([1, 1])
    report = Report("", "")
    told: list[float] = []
    known_times.add(report, chosen, LITTLE, Results(tmp_path / "x.jsonl"), told.append)
    assert sum(told) == known_times.jobs(chosen, LITTLE)
    assert report.data["known_times"]["best"] in known_times.ORDERS


def test_the_overhead_is_that_of_a_process_of_its_own() -> None:
    wall, policy, peak = overhead.measured("airsn")
    assert 0 < policy < wall and 5 < peak < 500


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
def test_real_dags_are_one_of_each_kind() -> None:
    found = real.found_in(DATA)
    assert len(found) > 5 and all(0 < dag.job_count <= real.MOST for dag in found.values())
    assert any(subject.times == "its own" for subject in real.subjects(found))


def test_a_report_has_claims_figures_and_tables_and_is_made_again_from_what_was_kept(tmp_path: Path) -> None:
    few = Effort(2, 1)
    size = Size({"airsn": 1.0}, shuffles=(1, 2), stated=few, pilot=Pilot(2), width=1.0)
    plan = Plan("quick", size, few, few, 1, few)
    expected: list[float] = []
    done: list[float] = []
    report = reproduce(plan, tmp_path, None, expected.append, done.append)
    assert sum(done) == expected[-1]
    kept = (tmp_path / "settings.jsonl").read_text()
    assert len(kept.splitlines()) > (1 + 3) * 7 * 17  # the pilot and three files; all else is kept as well
    text = (tmp_path / "report.md").read_text()
    assert all(name in text for name in ("figure-4.svg", "figure-6.svg", "holds?", "| files |", "File as generated"))
    assert (tmp_path / "figure-6.svg").read_text().count("<svg") == 1
    answer = json.loads((tmp_path / "report.json").read_text())
    assert answer["schema"] == 1 and len(answer["claims"]) == len(report.claims)
    assert {"id", "paper", "here", "low", "high", "holds"} <= set(answer["claims"][0])
    reproduce(plan, tmp_path, None, expected.append, done.append)
    assert (tmp_path / "settings.jsonl").read_text() == kept
    lines = kept.splitlines()
    (tmp_path / "settings.jsonl").write_text("\n".join(lines[::2]) + "\n")  # interrupted, it goes on
    again = reproduce(plan, tmp_path, None, expected.append, done.append)
    assert sorted((tmp_path / "settings.jsonl").read_text().splitlines()) == sorted(lines)
    timed = [claim for claim in report.claims if not claim.id.startswith("overhead")]
    assert [claim for claim in again.claims if not claim.id.startswith("overhead")] == timed


def test_a_paper_that_is_not_there_is_told() -> None:
    done = headway("reproduce", "nonsense")
    assert done.returncode == 2 and "prio" in done.stderr


@pytest.mark.parametrize("how", ["--quick", "--live"])
def test_a_folder_that_cannot_be_made_is_named(how: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = headway("reproduce", "prio", how, "-o", "file/report", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("file/report: cannot be made")
