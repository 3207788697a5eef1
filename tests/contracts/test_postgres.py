"""What is special to the shared store: many at once, and servers that come and go."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable

import psycopg
import pytest

from headway.engine.ready import Room
from headway.live.store import opened
from headway.live.store.postgres import PostgresDatabase
from headway.live.store.statements import statements
from headway.model.errors import HeadwayError
from tests.contracts.crew import Crew, flow, graph


def at_once(*works: Callable[[], object]) -> None:
    """Threads that start together; what any of them raises is raised here."""
    start, errors = threading.Barrier(len(works)), list[BaseException]()

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def wait_until_somebody_waits(url: str) -> None:
    """Returns once some connection waits for another one's lock."""
    with psycopg.connect(url, autocommit=True) as db:
        while not db.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchall():
            pass


def test_a_milestone_that_another_connection_nearly_ended_is_ended(postgres_url: str) -> None:
    one = Crew.on(postgres_url, flow("abMc", "aM", "bM", "Mc"))
    other = opened(postgres_url)
    one.take(2)
    a, b = one.finish("a"), one.finish("b")
    with other.database.transaction():
        other.leases.finish([b], 1.0)
        waiting = threading.Thread(target=lambda: one.swap([a], 0))
        waiting.start()
        wait_until_somebody_waits(postgres_url)
    waiting.join()
    assert one.states() == "a:d b:d c:e"


def test_a_shared_child_loses_no_count_and_nobody_waits_in_a_circle(postgres_url: str) -> None:
    letters = "fgeMcN"  # f and g end at once; each one's milestone leads to the other one's child
    arcs = ["fe", "fM", "Mc", "gc", "gN", "Ne"]
    one = Crew.on(postgres_url, flow(letters, *arcs))
    other = Crew(opened(postgres_url), one.workflow)
    for _ in range(40):
        one.workflow = other.workflow = one.store.submissions.add(flow(letters, *arcs), 1.0)
        one.take()
        other.take()
        at_once(lambda: one.end("f"), lambda: other.end("g"))
        assert one.states() == "f:d g:d e:e c:e"


def test_who_claims_waits_for_nobody(postgres_url: str) -> None:
    one = Crew.on(postgres_url, flow("ab"))
    other = opened(postgres_url)
    with other.database.transaction():
        held = other.leases.exchange(one.placeholder, [], Room(1, 1, 0), [one.workflow], 1.0).leases
        assert [lease.name for lease in held] == ["a"]
        assert one.take(2) == ["b"]


def test_two_that_make_the_tables_at_once_make_them_once(postgres_url: str) -> None:
    marks: list[str] = []
    at_once(*[lambda: marks.append(opened(postgres_url).id)] * 4)
    assert len(set(marks)) == 1


def test_commits_are_kept_whatever_the_server_s_default_is(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("ALTER ROLE postgres SET synchronous_commit TO off")
        db.execute("ALTER ROLE postgres SET default_transaction_isolation TO serializable")
        try:
            database = PostgresDatabase(postgres_url)
            with database.transaction():
                for setting, value in (("synchronous_commit", "on"), ("transaction_isolation", "read committed")):
                    assert database.connection.execute(f"SHOW {setting}").fetchone() == (value,)
        finally:
            db.execute("ALTER ROLE postgres RESET ALL")


def test_after_a_broken_connection_the_next_call_makes_a_new_one(postgres_url: str) -> None:
    crew = Crew.on(postgres_url, flow("ab", "ab"))
    crew.take()
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headway'")
    with pytest.raises(HeadwayError, match="what was done stays done"):
        crew.end("a")
    crew.end("a")
    assert crew.states() == "a:d b:e"


def test_a_server_that_is_not_there_is_said_so() -> None:
    with pytest.raises(HeadwayError, match=r"cannot be reached.*See whether the server runs"):
        opened("postgresql://postgres@127.0.0.1:1/test")


def test_a_user_without_rights_is_told_so(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS guest")
        db.execute("CREATE ROLE guest LOGIN")
        with pytest.raises(HeadwayError, match="permission denied"):
            opened(postgres_url.replace("postgres@", "guest@"))
        db.execute("DROP ROLE guest")


def test_without_the_driver_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None; from headway.live.store import opened; opened('postgresql:///x')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "-m pip install 'psycopg[binary]'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("analyzed", [False, True])
def test_exchanges_find_everything_by_an_index(postgres_url: str, analyzed: bool) -> None:
    crew = Crew.on(postgres_url, graph([f"j{n}" for n in range(3000)], []))
    database = crew.store.database
    assert isinstance(database, PostgresDatabase)
    if analyzed:
        database.connection.execute("ANALYZE")
    some = {"workflow": crew.workflow, "workflows": [1, 1], "parents": [1, 2], "jobs": [1, 2], "leases": [1, 2]}
    for name, index in (
        ("eligible", "jobs_eligible"),
        ("lock", "jobs_pkey"),
        ("leased", "attempts_pkey"),
        ("children", "arcs_pkey"),
    ):
        query = "EXPLAIN " + statements("postgresql")[name].text
        plan = database.connection.execute(query, {**some, "most": 4, "lane": 0}).fetchall()
        said = "\n".join(line for (line,) in plan)
        assert f"Index Scan using {index}" in said and "Seq Scan" not in said, said
