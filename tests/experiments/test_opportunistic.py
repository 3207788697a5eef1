"""The evaluation of opportunistic.txt: its rules on results made up for them, and its parts on little."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from headway.experiments.opportunistic import claims, osg, others, reasons, sensitivity, sweeps, traces
from headway.experiments.opportunistic.all import PLANS, Plan, reproduce
from headway.experiments.opportunistic.measuring import BASELINES, OPPORTUNISTIC, PAPERS, Group, arrivals, run
from headway.experiments.opportunistic.pipeline import pipeline
from headway.policies.where import POLICIES
from headway.sim.kernels.sites import METRICS
from headway.sim.sites import Model, Runs, Strategy
from tests.shell import ROOT, headway

DATA = ROOT.parent / "shared" / "data" / "wf"
LITTLE = Plan("little", 2, 2, 1, 1, 1, 3)


def group(times: Mapping[Strategy, float], spread: float = 0.01, sets: int = 5) -> Group:
    """Strategies whose runs all take about as long; 300 jobs end evenly over that time."""
    rng = np.random.default_rng(1)
    found = {}
    for one, mean in times.items():
        measures = np.zeros((20 * sets, METRICS))
        measures[:, 0] = mean * (1 + spread * rng.standard_normal(20 * sets))
        ends = np.linspace(0, 1, 301)[1:] * measures[:, :1]
        found[one.name] = Runs(measures, ends, np.ones((20 * sets, 12), np.int64))
    return Group(48_000.0, found)


def papers(*baselines: float, opportunistic: float = 1920.0) -> Group:
    return group({**dict(zip(BASELINES, baselines, strict=True)), OPPORTUNISTIC: opportunistic})


def verdicts(found: Group) -> dict[str, bool | None]:
    return {claim.id: claim.holds for claim in claims.judged(found)}


def test_the_papers_own_numbers_bear_its_claims_out() -> None:
    """Speed-ups of 9.5 and less against 25."""
    found = verdicts(papers(5100, 5200, 5300, 5050))
    assert found["speedup"] and found["higher-speedup"] and found["best"] and found["better-time"]
    assert found["mean-differs"] and found["median-differs"] and found["maximum-differs"]
    assert found["baselines"] and found["minima"] is False


def test_claims_fail_where_the_numbers_do_not_bear_them_out() -> None:
    found = verdicts(papers(2000, 2100, 1900, 2050))
    assert not any(found[name] for name in ("higher-speedup", "better-time", "mean-differs", "baselines"))
    assert found["minima"] and found["speedup"] and found["first-hundred"]
    assert verdicts(papers(2000, 2100, 1500, 2050))["best"] is False


def test_a_claim_whose_interval_is_on_both_sides_is_open() -> None:
    wide = group({**dict.fromkeys(BASELINES, 4224.0), OPPORTUNISTIC: 1920.0}, spread=0.3, sets=1)
    assert claims.better_time(wide).holds is None


def test_the_first_hundred_jobs_are_judged_where_they_differ_most() -> None:
    claim = claims.first_hundred(papers(1920, 1920, 3840, 1920))
    assert claim.holds is False and claim.here == pytest.approx(2.0, rel=0.05) and "last-used over" in claim.note


def test_whether_last_used_stays_is_a_share_of_cases() -> None:
    assert claims.stays([0.9, 0.8, 1.0, 0.9], 40).holds is True
    assert claims.stays([0.1, 0.0, 0.1, 0.0], 40).holds is False
    unsure = claims.stays([0.1, 0.9, 0.2, 0.8], 40)
    assert unsure.holds is None and unsure.low is not None and unsure.low >= 0


def test_reasons_are_given_for_what_does_not_hold_only() -> None:
    every = group(dict.fromkeys(sweeps.EVERY, 2000.0))
    found = papers(2000, 2100, 1900, 2050, opportunistic=1000.0)
    told = reasons.given([*claims.judged(found), claims.no_benefit(found)], found, every, found)
    by_id = {claim.id: claim for claim in told}
    assert by_id["speedup"].holds is False and "patience" in by_id["speedup"].reason
    assert not by_id["best"].reason
    assert by_id["data-present-no-benefit"].holds is True and not by_id["data-present-no-benefit"].reason


def test_all_strategies_of_the_paper_are_measured_on_the_same_runs() -> None:
    found = run(pipeline(10), osg.world(), PAPERS, 2, with_ends=True)
    assert {runs.makespans.shape for runs in found.found.values()} == {(40,)}
    ends = arrivals(found.found[OPPORTUNISTIC.name])
    assert ends.shape == (40, 30) and (np.diff(ends, axis=1) >= 0).all()
    assert ends[:, -1].tolist() == found.times(OPPORTUNISTIC).tolist()


def test_choices_after_a_long_wait_are_found_in_the_slow_world() -> None:
    shares, cases = traces.followed(Model(pipeline(20), osg.world()), Strategy("round-robin"), 30, 20)
    assert cases >= len(shares) > 0 and set(shares) == {0.0}, "sites take turns, so the next is another"


def test_sensitivity_changes_one_thing_at_a_time() -> None:
    settings = sensitivity.settings()
    assert len({setting.name for setting in settings}) == len(settings)
    assert all(not place.load.wrong() for setting in settings for place in setting.world.places)
    assert settings[0].world == osg.world()


def test_a_whole_report_is_made_on_little(tmp_path: Path) -> None:
    counted: list[float] = []
    expected: list[float] = []
    report = reproduce(LITTLE, tmp_path, None, expected.append, counted.append)
    assert sum(counted) == pytest.approx(expected[-1])
    answer = json.loads((tmp_path / "report.json").read_text())
    assert [claim["id"] for claim in answer["claims"]] == [claim.id for claim in report.claims]
    assert {"better-time", "higher-speedup", "speedup", "minima"} <= {claim["id"] for claim in answer["claims"]}
    assert set(answer["patience"]) == {"seconds", *POLICIES} and len(answer["every_strategy"]) == 2 * len(POLICIES)
    text = (tmp_path / "report.md").read_text()
    for figure in ("figure-7.svg", "figure-8.svg", "figure-9.svg", "figure-patience.svg"):
        assert figure in text and (tmp_path / figure).stat().st_size > 1000
    again = reproduce(LITTLE, tmp_path / "again", None, lambda jobs: None, lambda jobs: None)
    assert again.answer() == report.answer()


def test_real_workflows_are_simulated_where_their_files_are() -> None:
    if not DATA.is_dir():
        pytest.skip("there is no folder of real workflows beside the repository")
    found = others.found_in(DATA)
    assert len(found) > 10 and all(0 < load.dag.job_count <= others.MOST for load in found.values())
    name, load = min(found.items(), key=lambda item: item[1].dag.job_count)
    assert run(load, others.there(), [OPPORTUNISTIC], 1).times(OPPORTUNISTIC).min() > 0, name


def test_the_committed_report_is_that_of_a_full_run() -> None:
    folder = ROOT / "docs" / "reproduced" / "opportunistic"
    answer = json.loads((folder / "report.json").read_text())
    assert answer["how"] == "full" and answer["seed"] == 0
    text = (folder / "report.md").read_text()
    for claim in answer["claims"]:
        assert claim["id"] in text


def test_a_paper_without_real_runs_says_so() -> None:
    done = headway("reproduce", "opportunistic", "--live")
    assert done.returncode == 2 and "has no --live" in done.stderr


def test_plans_grow() -> None:
    assert PLANS["full"].sets > PLANS["quick"].sets
