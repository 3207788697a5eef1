"""The evaluation of peercomp.txt, on little."""

from __future__ import annotations

import json
from pathlib import Path

from headway.experiments.peercomp.all import reproduce
from headway.experiments.peercomp.claims import by_maximum, judged, of_bound, of_fits, of_oracle, of_sizes
from headway.experiments.peercomp.measuring import Plan, Runs, width
from headway.sim.peer_scenario import Scenario

LITTLE = Plan("quick", 16, 0.15, 2, 64, 0.3, 64, 0.3, (32, 64), 0.3, 0.1, 0.15, 20, 0.1, 30, 0.1)


def test_the_whole_report_on_little(tmp_path: Path) -> None:
    steps: list[float] = []
    report = reproduce(LITTLE, tmp_path, None, steps.append, steps.append)
    claims = {claim.id: claim for claim in report.claims}
    assert all(claims[name].holds for name in ("table-1", "widths", "no-misses", "size-misses", "laplace-misses"))
    text = (tmp_path / "report.md").read_text()
    assert text.count("Kernel, 64 nodes") == 6 and "Messages, 16 nodes" in text
    assert all((tmp_path / name).exists() for name in ("figure-6.svg", "sizes.svg"))
    found = json.loads((tmp_path / "report.json").read_text())
    assert len(found["table_2"]) == 8 and len(found["others"]) == 7 and len(found["fits"]) == 3
    assert abs(steps[0] / sum(steps[1:]) - 1) < 1e-6  # what was expected is what was done


def test_a_run_that_is_known_is_not_measured_again_and_a_torn_line_is(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    scenario = Scenario(nodes=32, hours=0.1)
    first = Runs(LITTLE, lambda seconds: None, kept).one(scenario)
    lines = kept.read_text()
    again = Runs(LITTLE, lambda seconds: None, kept).one(scenario)
    assert again.answer == first.answer and kept.read_text() == lines  # seconds of the first run, too
    kept.write_text(lines[: len(lines) // 2])
    other = Runs(LITTLE, lambda seconds: None, kept).one(scenario).answer
    assert {**other, "seconds": 0, "peak_rss": 0} == {**first.answer, "seconds": 0, "peak_rss": 0}


def test_what_the_paper_says_of_a_million_nodes_is_open_where_fewer_were_simulated(tmp_path: Path) -> None:
    report = reproduce(LITTLE, tmp_path, None, lambda seconds: None, lambda seconds: None)
    open_ones = {claim.id for claim in report.claims if claim.holds is None}
    assert open_ones >= {
        "million",
        "logarithmic",
        "events-mean",
        "out-75",
        "in-most",
        "top",
        "fork-join-flat",
        "few-seconds",
    }


def test_an_interval_decides_only_if_it_leaves_the_number_out() -> None:
    assert [judged(1, 2, 0), judged(-2, -1, 0), judged(-1, 1, 0)] == [True, False, None]
    assert of_oracle([0.9, 0.9], [1.0, 1.0], "").holds and of_oracle([0.5, 0.5], [1.0, 1.0], "").holds is False
    assert of_bound([5, 5], [10, 10]).holds and of_bound([10, 10], [10, 10]).holds is False
    assert by_maximum("fork-join", [[2.0, 2.0]]).holds and by_maximum("laplace", [[1.5, 1.5]]).holds is False
    shares = {"best": [0.9, 0.9], "earliest": [0.8, 0.8], "worst": [0.95, 0.95]}
    assert of_fits(shares).holds is False


def test_allocation_times_on_a_line_over_the_logarithm_are_logarithmic() -> None:
    sizes = (1_000, 10_000, 100_000, 1_048_576)
    assert of_sizes(sizes, (1.0, 1.2, 1.4, 1.6), (5, 6, 7, 8), (5, 7, 9, 10))[0].holds
    bent, many, _ = of_sizes(sizes, (1.0, 2.0, 8.0, 64.0), (50, 6, 7, 8), (5, 7, 9, 10))
    assert bent.holds is False and many.holds is False


def test_widths_of_the_papers_models() -> None:
    assert [width("fork-join", size) for size in (2, 8, 50)] == [2, 2, 2]
    assert [width("laplace", size) for size in (3, 4, 10)] == [3, 5, 17]
