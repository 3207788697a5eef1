from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from headway.model.dag import Dag
from headway.policies.what_next.eligible import eligible, schedule
from headway.policies.what_next.prio import certificate as module
from headway.policies.what_next.prio.certificate import Certificate, certificate
from headway.policies.what_next.prio.plan import Plan
from tests.policies.prio.graphs import best_curve, block_dag, composed_dag, dag_of, is_schedule, n, random_dag
from tests.policies.prio.literal import theory_succeeds


def judged(dag: Dag) -> tuple[Certificate, list[int]]:
    plan = Plan(dag)
    assert is_schedule(dag, plan.order)
    return certificate(dag, plan, rivals=[("the file's order", list(dag.order))]), plan.order


@pytest.fixture(params=["by theory and by every set", "by theory alone"])
def with_or_without_brute_force(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by theory alone":
        monkeypatch.setattr(module, "MOST_JOBS", 0)


def check(dag: Dag) -> bool | None:
    found, order = judged(dag)
    best = eligible(dag, order) == best_curve(dag)
    assert found.ic_optimal is not True or best, list(dag.arcs())
    assert found.ic_optimal is not False or not best, list(dag.arcs())
    assert found.reason
    return found.ic_optimal


@pytest.mark.usefixtures("with_or_without_brute_force")
@pytest.mark.parametrize("seed", range(10))
def test_no_yes_and_no_no_is_wrong_on_any_small_dag(seed: int) -> None:
    random = Random(seed)
    seen = Counter(check(random_dag(random, 10)) for _ in range(200))
    seen += Counter(check(composed_dag(random, 14)) for _ in range(50))
    assert seen[True] > 10 and seen[False] > 0


@pytest.mark.parametrize("seed", range(10))
def test_the_answer_is_yes_wherever_the_theoretical_algorithm_succeeds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_JOBS", 0)
    random = Random(1000 + seed)
    succeeded = 0
    for at in range(250):
        dag = composed_dag(random, 24) if at % 5 == 0 else random_dag(random, 12)
        if theory_succeeds(dag):
            succeeded += 1
            assert judged(dag)[0].ic_optimal is True, list(dag.arcs())
    assert succeeded > 50


def test_a_small_dag_is_always_settled() -> None:
    random = Random(5)
    assert all(check(random_dag(random, 11)) is not None for _ in range(200))


def test_the_component_that_stood_in_the_way_is_named() -> None:
    arcs = [(0, 20 + at) for at in range(20)] + [(20 + at, 40) for at in range(20)]
    arcs += [(40, 41 + at) for at in range(20)]
    found, _ = judged(dag_of(61, arcs))
    assert found.ic_optimal is None
    assert found.component == 1
    assert "component 2 (Λ, 21 jobs, from j20) has no priority over the next" in found.reason


def test_another_order_is_measured_by_what_is_proved() -> None:
    dag = block_dag(n(5))
    plan = Plan(dag)
    assert certificate(dag, plan, plan.order).ic_optimal is True
    worst = sorted(range(5), key=lambda node: -plan.order.index(node)) + list(range(5, 10))
    found = certificate(dag, plan, worst)
    assert found.ic_optimal is False and "after 1 job" in found.reason


def test_a_schedule_with_more_eligible_jobs_is_proof_that_this_one_is_not_best() -> None:
    random = Random(11)
    while True:
        small = random_dag(random, 10)
        if judged(small)[0].ic_optimal is False:
            break
    dag = dag_of(len(small) + 30, small.arcs())  # too large to look at every set
    plan = Plan(dag)
    assert certificate(dag, plan).ic_optimal is None
    better = schedule_through(dag, small)
    found = certificate(dag, plan, rivals=[("another", better)])
    assert found.ic_optimal is False and "another has" in found.reason


def schedule_through(dag: Dag, small: Dag) -> list[int]:
    """Some schedule that has more eligible jobs at some step than PRIO has."""
    ours = eligible(small, Plan(small).order)
    random = Random(1)
    while True:
        ranks = [random.random() for _ in range(len(small))]
        order = schedule(small, [int(1e6 * rank) for rank in ranks])
        if any(mine < theirs for mine, theirs in zip(ours, eligible(small, order), strict=True)):
            return order + list(range(len(small), len(dag)))
