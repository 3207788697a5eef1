"""Section 4 of trellisdag.txt: its workflow, its modelled run times, and a small run on real placeholders."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import pytest

from headway.experiments.trellisdag import ranks
from headway.experiments.trellisdag.all import Plan, reproduce, workflow
from headway.experiments.trellisdag.checkers import Real, measured
from headway.experiments.trellisdag.claims import Found, checkers_claims, claims, place_claims
from headway.experiments.trellisdag.kept import Kept
from headway.experiments.trellisdag.replay import Times, run
from tests.live.ledger import until


def brute(of: ranks.Slice) -> Counter[ranks.Rank]:
    """Placements of a slice one by one, by rank: kings only as a factor."""
    bk, wk, black, white = of
    found: Counter[ranks.Rank] = Counter()
    free = 32 - black - white
    for men in combinations(range(28), black):
        for others in combinations(range(4, 32), white):
            if not set(men) & set(others):
                lead = max(men) // 4 if men else None, 7 - min(others) // 4 if others else None
                found[lead] += comb(free, bk) * comb(free - bk, wk)
    return found


@pytest.mark.parametrize("of", [(0, 0, 1, 1), (1, 2, 2, 1), (0, 1, 2, 2), (3, 0, 0, 2), (0, 2, 3, 0), (2, 1, 0, 0)])
def test_positions_of_a_rank_are_those_that_one_counts(of: ranks.Slice) -> None:
    found = brute(of)
    assert {rank: ranks.positions(of, rank) for rank in found} == found
    assert set(ranks.ranks(of)) == set(found)


def test_four_against_three_pieces_have_as_many_positions_as_the_literature_says() -> None:
    total = sum(ranks.positions(of, rank) for of in ranks.slices() for rank in ranks.ranks(of))
    assert (len(ranks.slices()), total) == (20, 9_527_629_380)


def test_the_minimal_schedule_takes_what_the_papers_took() -> None:
    dag = workflow("1")
    assert dag.job_count == 638
    assert dag.minimal_schedule.makespan == pytest.approx(ranks.PAPER, rel=1e-9)


def test_verification_delays_nobody_and_takes_its_share() -> None:
    alone, verified = workflow("1"), workflow("1", "0.25")
    assert verified.job_count == 2 * alone.job_count
    assert verified.work == pytest.approx(1.25 * alone.work, rel=1e-6)
    assert verified.minimal_schedule.makespan == pytest.approx(ranks.PAPER, rel=1e-3)


def test_a_run_on_placeholders_does_every_job_once_and_in_order(tmp_path: Path) -> None:
    told: list[float] = []
    times = run(tmp_path / "run", ["0.00001"], 3, told.append)
    dag = workflow("0.00001")
    assert sum(told) == len(times.spans) == dag.job_count
    for node in dag.jobs():
        start = times.spans[dag.names[node]][0]
        assert all(times.spans[dag.names[parent]][1] <= start for parent in dag.job_parents(node))


def test_the_report_has_the_runs_the_claims_and_both_charts(tmp_path: Path) -> None:
    told: list[float] = []
    report = reproduce(Plan(0.5, runs=1, placeholders=2), tmp_path / "out", told.append, lambda _: None)
    answer = json.loads((tmp_path / "out/report.json").read_text())
    assert told == [2 * 638] and len(answer["runs"]) == 1
    assert answer["runs"][0] >= answer["minimal_seconds"] > 0.5
    assert {claim.id for claim in report.claims if not claim.variant_of} == {
        "near-minimal",
        "runs-alike",
        "most-at-once",
        "rarely-above-12",
        "nearly-as-many-at-once",
    }
    for number in (16, 17):
        assert "<svg" in (tmp_path / f"out/figure-{number}.svg").read_text()


def test_each_place_has_its_runs_and_claims_and_an_interrupted_report_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    plan = Plan(0.1, runs=1, placeholders=2, on=("local", "scripts"))
    dag = workflow("1")
    spans = {dag.names[job]: (float(at), at + 1.0) for at, job in enumerate(dag.jobs())}
    kept = Kept(folder / "runs.jsonl", f"{0.1 / ranks.PAPER} 2 False")
    for name in ("sequential", "scripts-0"):
        kept.once(name, lambda: Times(spans), lambda: None)
    with (folder / "runs.jsonl").open("a") as file:
        file.write('{"setup": "cut sho')
    told: list[float] = []
    report = reproduce(plan, folder, lambda _: None, told.append)
    assert sum(told) == 3 * 638
    answer = json.loads((folder / "report.json").read_text())
    assert answer["places"]["scripts"]["runs"] == [638.0] and answer["on"] == "local"
    assert {claim.id for claim in report.claims if claim.id.endswith("-scripts")} == {
        f"{name}-scripts" for name in ("near-minimal", "runs-alike", "nearly-as-many-at-once")
    }
    assert not (folder / "runs.jsonl").exists()


def test_the_real_program_is_run_on_one_slot_and_on_two_and_checked(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples/checkers"
    found = measured(example, tmp_path / "checkers", pieces="3", rounds=1)
    assert [one.slots for one in found] == [1, 2]
    assert all(0 < one.bound < one.seconds for one in found)
    assert found[0].bound == found[0].work


def test_the_real_program_is_judged_by_the_papers_rule() -> None:
    within, beyond = Real(2, 101.0, 100.0, 190.0), Real(2, 103.0, 100.0, 190.0)
    assert checkers_claims([within, within, beyond]).holds
    late = checkers_claims([within, beyond, beyond])
    assert not late.holds and "the work 95.0 s of each slot" in late.reason


def test_claims_are_judged_by_their_rules() -> None:
    curve = [(0.0, 20), (1.0, 5), (100.0, 0)]
    found = Found(100.0, 515.0, curve, [101.0, 101.5, 101.2], [[(0.0, 18), (1.0, 5), (101.0, 0)]] * 3, [0.01] * 3)
    assert {claim.id: claim.holds for claim in claims(found, 0.01)} == {
        "near-minimal": True,
        "runs-alike": True,
        "most-at-once": True,
        "rarely-above-12": True,
        "nearly-as-many-at-once": True,
    }
    slow = Found(100.0, 515.0, [(0.0, 9), (100.0, 0)], [103.0, 104.0, 102.0], [[(0.0, 5), (103.0, 0)]] * 3, [0.01] * 3)
    assert not any(claim.holds for claim in claims(slow, 0.0))
    assert not any(claim.holds for claim in place_claims(slow, "scripts"))


def test_ended_by_its_batch_system_it_leaves_no_placeholder_and_no_folder(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    command = [sys.executable, "-m", "headway", "reproduce", "trellisdag", "-o", str(tmp_path / "out")]
    begun = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def placeholders() -> list[Path]:
        found = []
        for one in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (one / "cmdline").read_bytes().split(b"\0")
                if b"placeholder" in words and any(str(scratch).encode() in word for word in words):
                    found.append(one)
        return found

    until(placeholders)
    begun.terminate()
    assert begun.wait(60) == 130
    until(lambda: not placeholders())
    assert list(scratch.glob("headway-*")) == []
