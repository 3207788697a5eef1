"""A copy of an embedded store, for those who may not write to it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from headway.live.store import Store, migration
from headway.live.store.read_only import ReadOnlyDatabase
from headway.model.errors import HeadwayError
from headway.model.messages import WorkflowId
from headway.model.states import State
from tests.contracts.crew import Crew, flow, states
from tests.live.ledger import until

# A writer that never rests, and moves its log into the file as often as it can, each time in another way.
BUSY = textwrap.dedent("""
    import pathlib, sqlite3, sys
    from tests.contracts.crew import Crew, graph
    crew = Crew.on(sys.argv[1], graph([f"job-{n}" for n in range(2000)], []))
    other = sqlite3.connect(sys.argv[1], isolation_level=None)
    print("begun", flush=True)
    turn, seen = 0, pathlib.Path(sys.argv[2])
    while turn < 400 or not seen.exists():
        turn += 1
        if turn <= 400:
            crew.end(*crew.take(5))
        else:
            crew.store.placeholders.beat(crew.placeholder, float(turn))
        if turn % 3 == 0:
            other.execute(f"PRAGMA wal_checkpoint({('PASSIVE', 'RESTART', 'TRUNCATE')[turn % 9 // 3]})").fetchall()
""")


def test_a_copy_beside_a_busy_writer_is_always_whole_and_never_goes_back(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", BUSY, str(path), str(tmp_path / "seen")], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None and writer.stdout.readline() == "begun\n"
    done, looks = [0], 0
    while writer.poll() is None:
        database = ReadOnlyDatabase(path)
        assert database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counts = Store(database).progress.counts(WorkflowId(1))
        assert sum(counts.values()) == 2000
        done.append(counts.get(State.DONE, 0))
        looks += 1
        if looks > 3:
            (tmp_path / "seen").touch()  # the writer goes on until then
    assert writer.returncode == 0 and done == sorted(done)
    assert Store(ReadOnlyDatabase(path)).progress.counts(WorkflowId(1)) == {State.DONE: 2000}


@pytest.mark.parametrize("beside", [("-wal", "-shm"), ("-wal",), ()])
def test_a_copy_has_what_is_only_in_the_log(tmp_path: Path, beside: tuple[str, ...]) -> None:
    crew = Crew.on(str(tmp_path / "store.db"), flow("ab", "ab"))
    crew.end(*crew.take())
    there = tmp_path / "there"
    there.mkdir()
    if not beside:
        crew.store.close()  # which moves all into the file
    for ending in ("", *beside):
        shutil.copy(tmp_path / f"store.db{ending}", there)
    found = Store(ReadOnlyDatabase(there / "store.db"))
    assert states(found, crew.workflow) == "a:d b:e" and found.id == crew.store.id
    assert {path.name for path in there.iterdir()} == {f"store.db{ending}" for ending in ("", *beside)}


def test_a_copy_follows_what_happens(tmp_path: Path) -> None:
    crew = Crew.on(str(tmp_path / "store.db"), flow("ab", "ab"))
    store = Store(ReadOnlyDatabase(tmp_path / "store.db"))
    assert states(store, crew.workflow) == "a:e b:w"
    crew.end(*crew.take())
    until(lambda: states(store, crew.workflow) == "a:d b:e")


def test_nothing_can_be_written_to_a_copy(tmp_path: Path) -> None:
    crew = Crew.on(str(tmp_path / "store.db"), flow("ab", "ab"))
    store = Store(ReadOnlyDatabase(tmp_path / "store.db"))
    for attempt in (
        lambda: store.submissions.add(flow("c"), 1.0),
        lambda: store.steering.steer("disable", crew.workflow, [(0, 0)]),
        lambda: store.history.forget([crew.workflow]),
        lambda: store.database.shrink(),
    ):
        with pytest.raises(HeadwayError, match=r"store.db cannot be written, only looked at. Make the file"):
            attempt()
    assert states(crew.store, crew.workflow) == states(store, crew.workflow) == "a:e b:w"


def test_an_older_store_is_brought_forward_in_the_copy_alone(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(migration.FOLDER, folder)
    newest = migration.newest(folder)
    (folder / f"{newest + 1:04}-mood.sql").write_text("ALTER TABLE jobs ADD COLUMN mood TEXT;\n")
    crew = Crew.on(str(tmp_path / "store.db"), flow("ab", "ab"))
    database = ReadOnlyDatabase(tmp_path / "store.db", folder)
    assert database.connection.execute("SELECT mood FROM jobs").fetchall() == [(None,), (None,)]
    assert states(Store(database), crew.workflow) == "a:e b:w"
    with sqlite3.connect(tmp_path / "store.db") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (newest,)


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("This is no database, however long it is looked at." * 100)
    with pytest.raises(HeadwayError, match="is no store"):
        ReadOnlyDatabase(tmp_path / "store.db")
    with pytest.raises(HeadwayError, match=r"nowhere.db cannot be read: No such file"):
        ReadOnlyDatabase(tmp_path / "nowhere.db")
