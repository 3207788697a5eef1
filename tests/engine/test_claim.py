"""Who gets the next slots, on a store in memory."""

from __future__ import annotations

from headway.engine.intake import Intake, Outside
from headway.engine.memory import Memory
from headway.engine.ready import Room
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Resources, Rules
from headway.model.messages import Finish, Lease, WorkflowId
from headway.model.states import Kind

ONE = WorkflowId(1)


def store(jobs: dict[str, Job], outside: Outside | None = None) -> Memory:
    """Jobs without an order, of equal rank."""
    memory = Memory()
    memory.add(Intake(Flat(Dag(list(jobs), [], []), list(jobs.values()), frozenset()), [0] * len(jobs), outside))
    return memory


def given(memory: Memory, free: int, *ended: Finish, now: float = 0.0, **named: int) -> list[Lease]:
    return memory.exchange(ended, Room(free, 4, named=named), [ONE], now).leases


def names(leases: list[Lease]) -> list[str]:
    return [lease.name for lease in leases]


def test_processes_of_a_node_start_before_jobs_that_follow_it_in_the_file() -> None:
    memory = store({"a": Job("true", parts=(Job("true"), Job("true"))), "b": Job("true")})
    assert names(given(memory, 2)) == ["a/0", "a/1"]


def test_a_service_takes_no_slot_from_a_job() -> None:
    memory = store({"a": Job("true"), "b": Job("true")}, Outside([(Kind.SERVICE, "s", Job("true"))]))
    assert names(given(memory, 1)) == ["s", "a"]


def test_each_process_of_a_node_takes_its_named_resources() -> None:
    process = Job("true", resources=Resources(named=(("gpus", 1),)))
    memory = store({"a": Job("true", parts=(process,) * 3)})
    leases = given(memory, 4, gpus=2)
    assert names(leases) == ["a/0", "a/1"] and leases[0].named == (("gpus", 1),)
    assert names(given(memory, 4, Finish(leases[0].id, 0), gpus=1)) == ["a/2"]


def test_a_category_counts_a_node_once_however_many_processes_it_has() -> None:
    rules = Rules(category="c")
    node = Job("true", rules=rules, parts=(Job("true", rules=rules),) * 2)
    memory = store({"a": node, "b": node}, Outside([], {"c": 1}))
    assert names(given(memory, 4)) == ["a/0", "a/1"]


def test_a_node_does_not_open_before_a_job_that_waits_for_room_and_take_its_place_in_a_category() -> None:
    rules = Rules(category="c")
    wide = Job("true", rules=rules, resources=Resources(cores=2))
    node = Job("true", rules=rules, parts=(Job("true"),) * 2)
    other = Job("true", parts=(Job("true"),) * 2)
    memory = store({"a": Job("true"), "wide": wide, "other": other, "node": node}, Outside([], {"c": 1}))
    (first,) = given(memory, 2)
    assert first.name == "a"
    assert names(given(memory, 2)) == ["wide"]


def test_a_job_that_is_tried_again_after_a_while_comes_after_those_that_waited_when_it_failed() -> None:
    memory = store({"a": Job("true", rules=Rules(retries=1, back_off=1.0)), "b": Job("true"), "c": Job("true")})
    (first,) = given(memory, 1)
    (second,) = given(memory, 1, Finish(first.id, 1))
    assert names([first, second]) == ["a", "b"]
    assert names(given(memory, 2, Finish(second.id, 0), now=9.0)) == ["c", "a"]
