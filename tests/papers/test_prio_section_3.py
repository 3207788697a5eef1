"""Numbers printed in sections 3.2 to 3.4 of the PRIO paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headway.experiments.paper_dags import PaperDag, airsn, inspiral, montage_grid, sdss
from headway.policies.what_next import order
from headway.policies.what_next.eligible import eligible, schedule
from headway.policies.what_next.prio.plan import Plan
from tests.shell import answer

IV = """\
Job a a.submit
Job b b.submit
Job c c.submit
Job d d.submit
Job e e.submit
Parent a Child b
Parent c Child d e
"""


def test_figure_3_runs_c_a_b_d_e_and_that_is_ic_optimal(tmp_path: Path) -> None:
    (tmp_path / "IV.dag").write_text(IV)
    found = answer("order", "IV.dag", "--by", "prio", cwd=tmp_path)
    assert found["order"] == ["c", "a", "b", "d", "e"]
    assert {job: 5 - rank for job, rank in found["ranks"].items()} == {"c": 5, "a": 4, "b": 3, "d": 2, "e": 1}
    assert found["certificate"]["ic_optimal"] is True


@pytest.mark.parametrize("shape", ["layers", "chain", "fmri"])
def test_the_bottleneck_of_airsn_has_priority_753_in_any_order_of_the_file(shape: str) -> None:
    for paper in (airsn(shape=shape), airsn(shape=shape).shuffled(1)):
        ranks = order("prio")(paper.dag())
        assert len(ranks) - ranks[paper.jobs.index(paper.info["bottleneck"])] == 753


@pytest.mark.parametrize("make", [airsn, montage_grid, sdss])
def test_figure_4_prio_has_typically_at_least_as_many_eligible_jobs_as_fifo(make: Callable[[], PaperDag]) -> None:
    dag = make().shuffled(2).dag()
    ours = eligible(dag, Plan(dag).order)
    theirs = eligible(dag, schedule(dag, order("fifo")(dag)))
    fewer = sum(one < two for one, two in zip(ours, theirs, strict=True))
    assert fewer < 0.05 * len(ours)
    assert sum(ours) > sum(theirs)


def test_the_largest_component_of_inspiral_is_not_bipartite() -> None:
    parts = Plan(inspiral().dag()).components
    assert max(parts, key=lambda part: part.jobs).kind == "general"
