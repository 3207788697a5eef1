"""What has changed since somebody last looked: nothing is left out, whoever writes at the same time."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from headway.live.client.following import Following
from headway.live.store import Store, opened
from headway.model.messages import Finish, Lease, WorkflowId
from headway.model.states import Kind, State
from tests.contracts.conftest import emptied
from tests.contracts.crew import Crew, flow, graph

READERS = {"AccessShareLock"}
WRITERS = READERS | {"RowShareLock", "RowExclusiveLock"}  # none of which keeps anybody else from reading or writing


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))


class Reader:
    """Knows of a store only what changes tell it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.after: int | None = None
        self.known: dict[tuple[int, int], State] = {}

    def look(self) -> set[int]:
        """The jobs that it is told of."""
        found = self.store.watching.changes(self.after)
        self.after = found.after
        self.known |= {(one.workflow, one.job): one.state for one in found.jobs}
        return {int(one.job) for one in found.jobs}

    def states(self, workflow: WorkflowId) -> list[tuple[int, State]]:
        return sorted((job, state) for (number, job), state in self.known.items() if number == workflow)


def committed(store: Store, workflow: WorkflowId) -> list[tuple[int, State]]:
    return [(int(job.job), job.state) for job in store.progress.jobs(workflow)]


def test_a_job_is_told_of_when_it_starts_ends_or_lets_another_start(place: str) -> None:
    crew = Crew.on(place, flow("abcd", "ab", "ac"))
    reader = Reader(crew.store)
    assert reader.look() == {0, 1, 2, 3}
    crew.take(1)
    assert 0 in reader.look() and reader.states(crew.workflow)[0] == (0, State.RUNNING)
    crew.end("a")
    assert reader.look() == {0, 1, 2}
    assert [state.name for _, state in reader.states(crew.workflow)] == ["DONE", "ELIGIBLE", "ELIGIBLE", "ELIGIBLE"]


def test_one_workflow_can_be_followed_alone(place: str) -> None:
    crew = Crew.on(place, flow("ab"))
    other = Crew(crew.store, crew.store.submissions.add(flow("c", source="/other.dag"), 1.0))
    after = crew.store.watching.changes().after
    other.take(1)
    crew.take(1)
    found = crew.store.watching.changes(after, crew.workflow)
    assert [(one.workflow, one.job, one.kind, one.attempts) for one in found.jobs if one.attempts] == [
        (crew.workflow, 0, Kind.JOB, 1)
    ]
    assert {one.workflow for one in found.jobs} == {crew.workflow}


def test_a_workflow_that_comes_in_is_noticed(place: str) -> None:
    crew = Crew.on(place, flow("ab"))
    after = crew.store.watching.changes().after
    new = opened(place).submissions.add(flow("cd", source="/other.dag"), 1.0)
    assert new in {one.workflow for one in crew.store.watching.changes(after).jobs}


@pytest.mark.parametrize("verb", ["disable", "enable", "done", "redo"])
def test_steering_is_a_change(place: str, verb: str) -> None:
    crew = Crew.on(place, flow("ab", "ab"))
    if verb == "enable":
        crew.steer("disable", "b")
    if verb == "redo":
        crew.run("a", "b")
    reader = Reader(crew.store)
    reader.look()
    crew.steer(verb, "b")
    assert 1 in reader.look() and reader.states(crew.workflow) == committed(crew.store, crew.workflow)


def test_what_was_told_is_not_told_again_for_long(place: str) -> None:
    """A change may be told twice, when others write at the same time; not for ever."""
    crew = Crew.on(place, flow("abc"))
    reader = Reader(crew.store)
    crew.run("a")
    reader.look()
    crew.take(1)
    reader.look()
    crew.end("b")
    reader.look()
    crew.take(1)
    assert 0 not in reader.look()


def test_who_comes_with_a_number_of_another_store_is_told_everything(place: str) -> None:
    crew = Crew.on(place, flow("ab", "ab"))
    found = crew.store.watching.changes(10**15)
    assert [int(one.job) for one in found.jobs] == [0, 1] and found.after < 10**15


def test_counts_that_follow_changes_are_those_that_counting_gives(place: str) -> None:
    crew = Crew.on(place, flow("abMcd", "aM", "bM", "Mc", "ad~"))
    following = Following(opened(place), crew.workflow, clock=lambda: 0.0)
    following.look()
    crew.take(2)
    for name, code in (("a", 1), ("b", 0)):
        crew.end(name, exit_code=code)
        assert +following.look() == crew.store.progress.counts(crew.workflow)
    crew.run("d")
    assert +following.look() == crew.store.progress.counts(crew.workflow)


def test_who_follows_looks_less_often_where_looking_takes_long() -> None:
    crew = Crew.on(":memory:", flow("abc"))
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0  # a look takes a second
        return now[0]

    following = Following(crew.store, crew.workflow, clock)
    following.look()
    crew.run("a")
    assert following.look()[State.DONE] == 1
    crew.run("b")
    assert following.look()[State.DONE] == 1
    now[0] += 20.0
    assert following.look()[State.DONE] == 2


# --- a store of the version before -----------------------------------------------------------------------------------


def made_old(store: Store) -> None:
    """Undoes migrations from 4 on, as if an earlier version had written the store."""
    db: Any = getattr(store.database, "connection")  # noqa: B009 - no database is called to have one
    for table in ("wanted", "files", "allocations", "affinities", "work", "expected", "callers", "attributes"):
        db.execute(f"DROP TABLE {table}")
    db.execute("DROP INDEX placeholders_there")
    db.execute("ALTER TABLE jobs DROP COLUMN changed")
    for table, column in (
        ("workflows", "exported"),
        ("placeholders", "site"),
        ("placeholders", "home"),
        ("attempts", "tail"),
    ):
        db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    if store.is_shared:
        db.execute("UPDATE meta SET value = '3' WHERE key = 'schema'")
    else:
        db.execute("PRAGMA user_version = 3")
    store.close()


def test_a_store_of_the_version_before_is_migrated_and_tells_what_happens_next(place: str) -> None:
    crew = Crew.on(place, flow("abc", "ab", "bc"))
    crew.run("a")
    crew.take(1)
    made_old(crew.store)
    crew.store = opened(place)
    reader = Reader(crew.store)
    reader.look()
    assert reader.states(crew.workflow) == [(0, State.DONE), (1, State.RUNNING), (2, State.WAITING)]
    crew.end("b")
    assert reader.look() >= {1, 2} and reader.states(crew.workflow) == committed(crew.store, crew.workflow)


# --- PostgreSQL: numbers commit out of order -------------------------------------------------------------------------


def begun(store: Store, lease: Lease) -> AbstractContextManager[None]:
    """A transaction that has ended an attempt, and stays open."""
    transaction = store.database.transaction()
    transaction.__enter__()
    store.leases.finish([Finish(lease.id, 0, 1.0, 2.0)], 2.0)
    return transaction


def test_a_change_is_not_missed_beside_an_open_transaction_of_another_placeholder(postgres_url: str) -> None:
    crew = Crew.on(postgres_url, flow("ab"))
    crew.take(2)
    slow, reader = opened(postgres_url), Reader(opened(postgres_url))
    reader.look()
    first = begun(slow, crew.leases["a"])
    crew.end("b")  # begun later, committed earlier
    assert 1 in reader.look() and reader.states(crew.workflow) == [(0, State.RUNNING), (1, State.DONE)]
    reader.look()
    first.__exit__(None, None, None)
    assert 0 in reader.look() and reader.states(crew.workflow) == [(0, State.DONE), (1, State.DONE)]


def locks(db: psycopg.Connection[Any], pid: int) -> set[str]:
    rows = db.execute("SELECT DISTINCT mode FROM pg_locks WHERE locktype = 'relation' AND pid = %s", (pid,))
    return {str(mode) for (mode,) in rows}


def test_neither_who_writes_changes_nor_who_reads_them_locks_a_table(postgres_url: str) -> None:
    crew = Crew.on(postgres_url, flow("ab", "ab"))
    crew.take(1)
    writer, reader = opened(postgres_url), opened(postgres_url)
    open_one = begun(writer, crew.leases["a"])
    writing: Any = getattr(writer.database, "connection")  # noqa: B009
    reading: Any = getattr(reader.database, "connection")  # noqa: B009
    with psycopg.connect(postgres_url) as db:
        assert "RowExclusiveLock" in locks(db, writing.info.backend_pid) <= WRITERS
        with reader.database.transaction():
            reader.watching.changes(0)
            assert locks(db, reading.info.backend_pid) == READERS
    open_one.__exit__(None, None, None)


def test_rows_of_a_dump_that_another_server_made_hide_nothing(postgres_url: str) -> None:
    """Their numbers are ahead of this server's."""
    crew = Crew.on(postgres_url, flow("ab"))
    crew.run("a")
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("UPDATE headway.jobs SET changed = '1000000000000'")
    reader = Reader(crew.store)
    reader.look()
    assert reader.look() == set()  # they are not told over and over
    crew.take(1)
    assert reader.look() == {1} and reader.states(crew.workflow) == committed(crew.store, crew.workflow)


class OpenTransactions(RuleBasedStateMachine):
    """Transactions of several placeholders, open as long as they like; a reader that knows what is committed."""

    url = ""
    JOBS, WRITERS = 12, 3

    def __init__(self) -> None:
        super().__init__()
        emptied(self.url)
        self.crew = Crew.on(self.url, graph([f"j{at}" for at in range(self.JOBS)], []))
        self.crew.take(self.JOBS - 3)
        self.left = sorted(self.crew.leases.values(), key=lambda lease: lease.id)
        self.writers = [opened(self.url) for _ in range(self.WRITERS)]
        self.open: dict[int, AbstractContextManager[None]] = {}
        self.readers = [Reader(opened(self.url)) for _ in range(2)]

    @initialize()
    def begin_to_read(self) -> None:
        for reader in self.readers:
            reader.look()

    def teardown(self) -> None:
        with contextlib.ExitStack() as stack:
            for store in (self.crew.store, *self.writers, *(reader.store for reader in self.readers)):
                stack.callback(store.close)
            for transaction in self.open.values():
                transaction.__exit__(None, None, None)
            for reader in self.readers:
                reader.look()
                self.check(reader)

    def check(self, reader: Reader) -> None:
        assert reader.states(self.crew.workflow) == committed(self.crew.store, self.crew.workflow)

    @rule(who=st.integers(0, WRITERS - 1), pick=st.integers(0, JOBS))
    def begin(self, who: int, pick: int) -> None:
        if who not in self.open and self.left:
            self.open[who] = begun(self.writers[who], self.left.pop(pick % len(self.left)))

    @rule(who=st.integers(0, WRITERS - 1))
    def commit(self, who: int) -> None:
        if who in self.open:
            self.open.pop(who).__exit__(None, None, None)

    @rule(who=st.integers(0, WRITERS - 1))
    def give_up(self, who: int) -> None:
        if who in self.open:
            given_up = KeyboardInterrupt()
            with pytest.raises(KeyboardInterrupt):
                if not self.open.pop(who).__exit__(KeyboardInterrupt, given_up, None):
                    raise given_up

    @rule(pick=st.integers(0, JOBS), want=st.integers(0, 2))
    def exchange(self, pick: int, want: int) -> None:
        """Somebody who is quick: begins later, and commits earlier."""
        ends = [self.left.pop(pick % len(self.left))] if self.left else []
        names = self.crew.swap([Finish(lease.id, 0, 1.0, 2.0) for lease in ends], want)
        self.left += [self.crew.leases[name] for name in names]

    @rule()
    def look(self) -> None:
        self.readers[1].look()
        self.check(self.readers[1])

    @invariant()
    def who_always_looks_knows_what_is_committed(self) -> None:
        self.readers[0].look()
        self.check(self.readers[0])


def test_whatever_is_open_readers_know_what_is_committed(postgres_url: str) -> None:
    OpenTransactions.url = postgres_url
    run_state_machine_as_test(
        OpenTransactions, settings=settings(max_examples=25, stateful_step_count=25, deadline=None)
    )
