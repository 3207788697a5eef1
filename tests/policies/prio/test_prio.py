from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from headway.experiments.paper_dags import inspiral
from headway.model.dag import Dag
from headway.policies.what_next import order
from headway.policies.what_next.eligible import eligible, schedule
from headway.policies.what_next.prio import graph as graph_module
from headway.policies.what_next.prio.certificate import certificate
from headway.policies.what_next.prio.plan import Plan
from tests.policies.prio.graphs import dag_of, is_schedule, random_dag


def checked(dag: Dag) -> Plan:
    plan = Plan(dag)
    assert is_schedule(dag, plan.order)
    assert schedule(dag, plan.ranks) == plan.order
    return plan


@pytest.mark.parametrize("seed", range(5))
def test_any_dag_gets_a_schedule_and_always_the_same(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        dag = random_dag(random, 80, 0.2)
        assert checked(dag).order == Plan(dag).order


def test_of_equals_the_first_in_the_file_comes_first() -> None:
    assert checked(dag_of(6, [(2, 3), (0, 5), (1, 4)])).order == [0, 1, 2, 3, 4, 5]


def test_of_equals_a_component_that_others_follow_comes_first() -> None:
    # Two forks of two: what the first one makes eligible leads nowhere, from the second another fork goes on.
    assert checked(dag_of(8, [(0, 1), (0, 2), (3, 4), (3, 5), (4, 6), (4, 7)])).order[:2] == [3, 0]


def test_on_inspiral_ties_alone_are_worth_a_tenth_of_the_eligible_jobs() -> None:
    dag = inspiral().dag()
    assert round(mean(eligible(dag, checked(dag).order))) == 567  # 508 with ties by the order of the file alone


def test_nothing_and_one_job_and_jobs_without_arcs() -> None:
    assert checked(dag_of(0, [])).order == []
    assert checked(dag_of(1, [])).order == [0]
    plan = checked(dag_of(3, []))
    assert plan.order == [0, 1, 2]
    assert certificate(dag_of(3, []), plan).ic_optimal is True
    assert [part.kind for part in plan.components] == ["job"] * 3


def test_disconnected_parts_are_interleaved_by_priority() -> None:
    dag = dag_of(9, [(0, 1), (1, 2), (3, 4), (3, 5), (3, 6), (7, 8)])
    assert checked(dag).order[0] == 3


def test_a_hundred_thousand_parallel_jobs() -> None:
    dag = dag_of(100_000, [])
    assert checked(dag).order == list(range(100_000))


def test_a_chain_of_a_hundred_thousand_jobs() -> None:
    size = 100_000
    dag = dag_of(size, [(node, node - 1) for node in range(1, size)])
    plan = checked(dag)
    assert plan.order == list(range(size - 1, -1, -1))
    assert certificate(dag, plan).ic_optimal is True


def test_one_job_with_fifty_thousand_children_and_one_that_waits_for_all() -> None:
    size = 50_000
    arcs = [(0, 1 + at) for at in range(size)]
    assert certificate(dag_of(size + 1, arcs), checked(dag_of(size + 1, arcs))).ic_optimal is True
    arcs += [(1 + at, size + 1) for at in range(size)] + [(0, size + 1)]
    assert checked(dag_of(size + 2, arcs)).order == list(range(size + 2))


def test_a_tangle_of_twenty_thousand_jobs() -> None:
    half = 10_000
    arcs = [(at, half + at) for at in range(half)] + [(half + at, 2 * half + at) for at in range(half)]
    arcs += [(at, 2 * half + (at + 1) % half) for at in range(half)]
    plan = checked(dag_of(3 * half, arcs))
    assert plan.kinds == ["general"]


def test_a_milestone_is_passed_the_moment_it_is_reached() -> None:
    # a, b -> milestone -> c, d is a complete bipartite dag of four jobs
    dag = Dag(list("abmcd"), [0, 1, 2, 2], [2, 2, 3, 4], milestones=bytes([0, 0, 1, 0, 0]))
    plan = Plan(dag)
    assert plan.kinds == ["complete"]
    assert plan.order == [0, 1, 3, 4]
    assert eligible(dag, plan.order) == [2, 1, 2, 1, 0]
    assert certificate(dag, plan).ic_optimal is True


def test_barriers_that_stand_for_too_many_arcs_stay_and_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MOST_ARCS", 1)
    monkeypatch.setattr(graph_module, "MOST_TIMES", 0)
    dag = Dag(list("abmcd"), [0, 1, 2, 2], [2, 2, 3, 4], milestones=bytes([0, 0, 1, 0, 0]))
    plan = Plan(dag)
    assert plan.graph.barriers == 1
    found = certificate(dag, plan)
    assert found.ic_optimal is None and "barrier" in found.reason
    assert schedule(dag, plan.ranks) == [0, 1, 3, 4] == plan.order


def test_a_barrier_that_stays_is_no_job_when_schedules_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MOST_ARCS", 1)
    monkeypatch.setattr(graph_module, "MOST_TIMES", 0)
    dag = Dag(list("abmcd"), [0, 1, 2, 2], [2, 2, 3, 4], milestones=bytes([0, 0, 1, 0, 0]))
    plan = Plan(dag)
    assert certificate(dag, plan, rivals=[("fifo", [0, 1, 3, 4])]).ic_optimal is None
    assert certificate(dag, plan, [1, 0, 3, 4], [("prio", plan.order)]).ic_optimal is None


def test_two_barriers_of_ten_thousand_jobs_each() -> None:
    size = 10_000
    arcs = [(at, size) for at in range(size)] + [(size, size + 1 + at) for at in range(size)]
    dag = Dag(
        [f"j{at}" for at in range(2 * size + 1)],
        [one for one, _ in arcs],
        [two for _, two in arcs],
        milestones=bytes(size) + b"\1" + bytes(size),
    )
    assert schedule(dag, order("prio")(dag)) == [*range(size), *range(size + 1, 2 * size + 1)]
