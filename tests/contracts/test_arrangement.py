"""A store is told which jobs a run is about; the next run, told otherwise, goes on with the rest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headway.engine.plan import Plan, plan
from headway.live.store.arrangement import arrange, known
from headway.live.store.database import Database
from headway.live.store.defaults import Defaults, set_defaults
from headway.live.store.submission import Submission
from headway.model.flatten import Flat
from headway.model.part import part
from headway.model.states import State
from tests.contracts.crew import Crew, flow, layered


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "store.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


class Runs(Crew):
    """A crew that is told what its next run is about."""

    flat: Flat

    @classmethod
    def of(cls, place: str, submission: Submission) -> Runs:
        crew = cls.on(place, submission)
        assert isinstance(crew, Runs)
        crew.flat = submission.flat
        return crew

    @property
    def database(self) -> Database:
        return self.store.database

    def plan(self, until: str = "", since: str = "", retry: bool = False) -> Plan:
        chosen = part(self.flat, until.split(), since.split())
        return plan(self.flat, known(self.database, self.workflow), chosen, retry=retry)

    def tell(self, until: str = "", since: str = "") -> None:
        arrange(self.database, self.workflow, self.flat, self.plan(until, since) if until or since else None)

    def to_the_end(self) -> list[str]:
        """Runs whatever can be run; the jobs in order."""
        order: list[str] = []
        while names := self.take(3):
            self.end(*names)
            order += names
        return order


def test_until_a_job_the_rest_is_left_out_and_the_run_ends(place: str) -> None:
    crew = Runs.of(place, flow("abcMd", "ab", "bc", "cM", "Md"))
    crew.tell(until="b")
    assert crew.to_the_end() == ["a", "b"]
    assert not crew.store.progress.is_under_way(crew.workflow)
    assert crew.store.progress.left_out(crew.workflow) == {State.DISABLED: 1, State.WAITING: 1}
    assert bool(crew.store.progress.left_out(crew.workflow))
    crew.tell()
    assert not bool(crew.store.progress.left_out(crew.workflow))
    assert crew.to_the_end() == ["c", "d"]


def test_from_a_job_on_what_is_done_runs_again_and_what_came_before_does_not_hold_it_up(place: str) -> None:
    crew = Runs.of(place, flow("abMcd", "ab", "bM", "Mc", "cd"))
    crew.tell(since="b")
    assert crew.to_the_end() == ["b", "c", "d"]
    crew.tell(since="c")
    assert crew.states() == "a:x b:d c:e d:w"
    assert crew.to_the_end() == ["c", "d"]
    crew.tell()
    assert crew.to_the_end() == ["a"]
    assert crew.store.progress.counts(crew.workflow) == {State.DONE: 4}


def test_a_job_that_may_run_only_now_comes_after_one_that_could_before(place: str) -> None:
    crew = Runs.of(place, flow("abc", "ac"))
    crew.tell(since="b c")
    assert crew.take(2) == ["b", "c"]


def test_a_failed_job_is_tried_again_with_all_its_tries_when_it_is_asked_for(place: str) -> None:
    crew = Runs.of(place, flow("ab", "ab", retries=1))
    crew.run("a", "a", exit_code=1)
    assert crew.states() == "a:f b:w"
    crew.tell(since="a")
    crew.run("a", exit_code=1)
    crew.run("a", "b")
    assert crew.states() == "a:d b:d"


def test_a_weak_arc_counts_anew_when_its_parent_is_done_anew(place: str) -> None:
    crew = Runs.of(place, flow("abc", "ab~", "bc"))
    crew.run("a", exit_code=1)
    crew.run("b", "c")
    crew.tell(since="a")
    assert crew.states() == "a:e b:w c:w"
    crew.run("a", exit_code=1)
    assert crew.to_the_end() == ["b", "c"]


def test_a_job_that_runs_goes_on_and_those_done_anew_wait_for_it_no_second_time(place: str) -> None:
    crew = Runs.of(place, flow("abc", "ac", "bc"))
    assert crew.take(2) == ["a", "b"]
    crew.end("a")
    crew.tell(since="a")
    crew.end("b")
    assert crew.to_the_end() == ["a", "c"]


def test_verbs_on_a_job_that_is_left_out_wait_for_the_next_run_and_no_counter_goes_wrong(place: str) -> None:
    crew = Runs.of(place, flow("asMcd", "aM", "sM", "Mc", "cd"))
    for verb in ("enable", "disable", "enable", "redo", "done"):
        crew.tell(since="c")
        crew.store.steering.steer(verb, crew.workflow, [(0, 0)])
        assert crew.states() == f"a:{'d' if verb == 'done' else 'x'} s:x c:e d:w"
        assert crew.store.steering.miscounted(crew.workflow) == []
    crew.tell()
    assert crew.states() == "a:d s:e c:w d:w"
    assert crew.to_the_end() == ["s", "c", "d"]


def test_a_job_that_its_user_has_disabled_stays_so_whatever_runs_are_about(place: str) -> None:
    crew = Runs.of(place, flow("ab"))
    crew.store.steering.steer("disable", crew.workflow, [(0, 0)])
    crew.tell(until="b")
    crew.tell()
    assert crew.states() == "a:x b:e"
    crew.tell(until="b")
    crew.store.steering.steer("enable", crew.workflow, [(0, 0)])
    assert crew.to_the_end() == ["b"]
    crew.tell()
    assert crew.to_the_end() == ["a"]


def test_jobs_get_retries_that_wait_when_a_run_begins(place: str) -> None:
    crew = Runs.of(place, flow("ab", "ab"))
    crew.run("a", exit_code=1)
    set_defaults(crew.database, crew.workflow, crew.flat, Defaults(retries=1, back_off=1e9))
    crew.tell(since="a")
    crew.run("a", exit_code=1)
    assert crew.states() == "a:l b:w" and crew.take() == []


def test_whatever_was_chosen_before_everything_is_done_once_everything_is_asked_for() -> None:
    chance = random.Random(11)
    for _ in range(25):
        submission, before = layered(5, 4)
        crew = Runs.of(":memory:", submission)
        names = [crew.flat.dag.names[node] for node in crew.flat.dag.jobs()]
        for _ in range(6):
            name = chance.choice(names)
            until, since = (name, "") if chance.random() < 0.5 else ("", name)
            planned = crew.plan(until, since)
            crew.tell(until, since)
            meant = {
                crew.flat.dag.names[n] for n, said in enumerate(planned.verdicts) if said is not None and said.runs
            }
            if chance.random() < 0.3:  # stopped half-way
                crew.end(*crew.take(2))
                continue
            assert crew.store.steering.miscounted(crew.workflow) == []
            order = crew.to_the_end()
            assert set(order) == meant and len(order) == len(meant)
            at = {crew.flat.dag.names.index(name): place for place, name in enumerate(order)}
            assert all(at[parent] < at[child] for parent, child in before if parent in at and child in at)
        crew.tell()
        crew.to_the_end()
        assert set(crew.store.progress.counts(crew.workflow)) == {State.DONE}
