"""The evaluation of prio.txt: its parts on little, and the judging of claims on results made up for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.experiments.paper_dags import airsn
from headway.experiments.prio import claims, figure_4, known_times, overhead, real
from headway.experiments.prio.all import Plan, reproduce
from headway.experiments.prio.dags import named
from headway.experiments.prio.figures_6_to_9 import Surface
from headway.experiments.prio.results import Results
from headway.experiments.prio.settings import BATCHES, INTERVALS, Case
from headway.experiments.report import Claim, Report
from headway.model.dag import Dag
from headway.model.errors import HeadwayError
from headway.sim.comparison import Effort
from headway.sim.grid import Workers
from tests.shell import ROOT, headway

DATA = ROOT.parent / "shared" / "data" / "wf"
LITTLE = Effort(3, 2)
SIZES = {"airsn": 773, "inspiral": 2988, "montage": 7881, "sdss": 48013}


def surface(ratio: float, at: dict[tuple[float, float], float] | None = None) -> Surface:
    """A dag with the same ratio everywhere, but for some settings."""

    def result(value: float) -> dict[str, Any]:
        return {"ratios": {"execution_time": {"paired": (value, value - 0.001, value + 0.001)}}}

    settings = [(interval, batch) for interval in INTERVALS for batch in BATCHES]
    return {setting: result((at or {}).get(setting, ratio)) for setting in settings}


@pytest.mark.parametrize("name", SIZES)
def test_the_dags_have_the_papers_sizes(name: str) -> None:
    found = named(name)
    assert found is not None and found.dag().job_count == SIZES[name]


def test_a_case_is_known_by_what_it_is_not_by_its_name() -> None:
    tidy, shuffled = Case("airsn", "as generated"), Case("airsn", "shuffled")
    assert tidy.digest != shuffled.digest and tidy.digest == Case("airsn", "as generated").digest

    def told(dag: Dag) -> set[tuple[str, str]]:
        return {(dag.names[parent], dag.names[child]) for parent, child in dag.arcs()}

    assert told(tidy.dag) == told(shuffled.dag) and list(tidy.dag.names) != list(shuffled.dag.names)


def test_results_are_measured_once_even_if_a_line_was_cut_short(tmp_path: Path) -> None:
    path, case, workers = tmp_path / "settings.jsonl", Case("airsn", "shuffled"), Workers(1.0, 16.0)
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
        Results(tmp_path).comparison(Case("airsn", "shuffled"), Workers(1.0, 16.0), LITTLE)


def judged(surfaces: dict[str, Surface], tmp_path: Path) -> dict[str, Claim]:
    report = Report("", "")
    found = {(name, "shuffled"): it for name, it in surfaces.items()}
    claims.add(report, found, Results(tmp_path / "x.jsonl"), LITTLE, lambda jobs: None)
    return {claim.id: claim for claim in report.claims}


def test_claims_are_judged_by_intervals(tmp_path: Path) -> None:
    gains = {(interval, 2.0**9): 0.9 for interval in INTERVALS if interval >= 0.1}
    found = judged({"inspiral": surface(1.0, gains), "sdss": surface(1.0)}, tmp_path)
    assert found["gains-inspiral"].holds is True and found["gains-sdss"].holds is False
    assert found["frequent-inspiral"].holds is True and found["frequent-sdss"].holds is False
    assert (found["best-batch-inspiral"].here, found["best-batch-inspiral"].holds) == ("2^9", True)
    assert found["best-batch-sdss"].holds is False and "no advantage" in str(found["best-batch-sdss"].here)
    assert found["about-1-at-2^0-inspiral"].holds is True


def test_a_ratio_off_1_where_it_should_not_be_is_told_with_its_setting(tmp_path: Path) -> None:
    found = judged({"montage": surface(1.0, {(10.0, 2.0**16): 1.05, (1e-3, 4.0): 0.95})}, tmp_path)
    assert (
        found["about-1-at-2^16-montage"].holds is False and "(10, 2^16) 1.050" in found["about-1-at-2^16-montage"].note
    )
    assert found["frequent-montage"].holds is False and found["about-1-at-2^0-montage"].holds is True


def test_gains_are_ranked_by_dag(tmp_path: Path) -> None:
    surfaces = {
        name: surface(1.0, {(1.0, 16.0): ratio}) for name, ratio in zip(SIZES, (0.8, 0.9, 0.98, 0.95), strict=True)
    }
    del surfaces["airsn"]
    assert "strongest" not in judged(surfaces, tmp_path)
    surfaces["airsn"] = surface(1.0, {(1.0, 16.0): 0.8})
    found = judged(surfaces, tmp_path)
    assert (found["strongest"].here, found["weakest"].here) == ("airsn", "montage")
    assert found["airsn-median"].low is not None


def test_the_difference_of_eligible_jobs_begins_and_ends_at_nothing() -> None:
    dag = airsn(30).dag()
    found = figure_4.difference(dag)
    assert found[0] == found[-1] == 0 and found.max() > 0 and len(found) == dag.job_count + 1


def test_known_times_compare_all_orders_on_the_same_run_times() -> None:
    dag = airsn(8).dag()
    chosen = known_times.subjects({"small": dag}, draws=1)
    assert [sum(subject.dag.seconds) / dag.job_count for subject in chosen] == pytest.approx([1, 1])
    report = Report("", "")
    told: list[float] = []
    known_times.add(report, chosen, LITTLE, told.append)
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
    plan = Plan("quick", {"airsn": few}, few, few, 1, few, stated=few)
    expected: list[float] = []
    done: list[float] = []
    report = reproduce(plan, tmp_path, None, expected.append, done.append)
    assert sum(done) == sum(expected)
    kept = (tmp_path / "settings.jsonl").read_text()
    assert len(kept.splitlines()) == 2 * 7 * 17
    text = (tmp_path / "report.md").read_text()
    assert all(name in text for name in ("figure-4.svg", "figure-6.svg", "holds?", "p = 2, q = 1", "File as generated"))
    assert (tmp_path / "figure-6.svg").read_text().count("<svg") == 1
    answer = json.loads((tmp_path / "report.json").read_text())
    assert answer["schema"] == 1 and len(answer["claims"]) == len(report.claims)
    assert {"id", "paper", "here", "low", "high", "holds"} <= set(answer["claims"][0])
    reproduce(plan, tmp_path, None, expected.append, done.append)
    assert (tmp_path / "settings.jsonl").read_text() == kept


def test_a_paper_that_is_not_there_is_told() -> None:
    done = headway("reproduce", "nonsense")
    assert done.returncode == 2 and "prio" in done.stderr


@pytest.mark.parametrize("how", ["--quick", "--live"])
def test_a_folder_that_cannot_be_made_is_named(how: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = headway("reproduce", "prio", how, "-o", "file/report", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("file/report: cannot be made")
