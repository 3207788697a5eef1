"""Schemas that move on: a made-up next one, on both databases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headway.live.store import Store, migration, opened, whole_schema
from headway.live.store.postgres import PostgresDatabase
from headway.live.store.sqlite import SqliteDatabase
from headway.model.errors import HeadwayError
from tests.contracts.crew import Crew, flow

NEXT = """\
-- What made-up people want; each one's ; ends its line.
ALTER TABLE jobs ADD COLUMN mood TEXT NOT NULL DEFAULT 'fair';
UPDATE jobs SET mood = 'good' WHERE state = 1;
CREATE TABLE only_here (word TEXT);  -- sqlite
CREATE TABLE only_there (word TEXT);  -- postgresql
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))


def later(place: str, folder: Path) -> PostgresDatabase | SqliteDatabase:
    """The database as a Headway with these migrations opens it."""
    if place.startswith("postgresql"):
        return PostgresDatabase(place, folder)
    return SqliteDatabase(Path(place), migrations=folder)


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    shutil.copytree(migration.FOLDER, folder)
    (folder / "9999-moods.sql").write_text(NEXT)
    return folder


def moods(database: PostgresDatabase | SqliteDatabase) -> list[tuple[str, ...]]:
    found = database.connection.execute("SELECT name, mood FROM jobs JOIN specs USING (workflow, job) ORDER BY job")
    return list(found.fetchall())


def test_an_older_store_is_brought_forward_with_all_that_is_in_it(place: str, migrations: Path) -> None:
    crew = Crew.on(place, flow("ab", "ab"))
    mark = crew.store.id
    crew.store.close()
    for _ in range(2):
        database = later(place, migrations)
        assert moods(database) == [("a", "good"), ("b", "fair")] and database.id == mark
        here = "only_there" if isinstance(database, PostgresDatabase) else "only_here"
        assert database.connection.execute(f"SELECT * FROM {here}").fetchall() == []
        database.close()


def test_a_new_store_has_all_migrations(place: str, migrations: Path) -> None:
    database = later(place, migrations)
    Store(database).submissions.add(flow("a"), 1.0)
    assert moods(database) == [("a", "fair")]


def test_a_newer_store_is_refused_politely_and_left_alone(place: str, migrations: Path) -> None:
    database = later(place, migrations)
    Store(database).submissions.add(flow("a"), 1.0)
    known = migration.newest(migration.FOLDER)
    with pytest.raises(
        HeadwayError, match=rf"newer Headway \(schema 9999, this one knows {known}\)\. Use that version"
    ):
        opened(place)
    assert moods(database) == [("a", "fair")]


def test_a_migration_that_fails_changes_nothing(place: str, migrations: Path) -> None:
    crew = Crew.on(place, flow("ab", "ab"))
    (migrations / "9999-moods.sql").write_text(NEXT + "UPDATE nothing SET x = 1;\n")
    with pytest.raises(HeadwayError, match="nothing"):
        later(place, migrations)
    crew.store.close()
    crew.store = opened(place)
    crew.run("a", "b")


def test_a_new_store_is_what_all_migrations_make(tmp_path: Path) -> None:
    """A new SQLite store is made at once, from one file: scripts/whole-schema writes it again after a migration."""
    assert (migration.FOLDER / "whole-sqlite.sql").read_text() == whole_schema.text()
    stepwise = tmp_path / "migrations"
    shutil.copytree(migration.FOLDER, stepwise, ignore=shutil.ignore_patterns("whole-*"))
    at_once = SqliteDatabase(tmp_path / "a.db").connection
    by_steps = SqliteDatabase(tmp_path / "b.db", migrations=stepwise).connection
    for question in ("PRAGMA user_version", "PRAGMA application_id", "SELECT key FROM meta"):
        assert at_once.execute(question).fetchall() == by_steps.execute(question).fetchall()
    names = [name for (name,) in by_steps.execute("SELECT name FROM sqlite_schema ORDER BY name")]
    assert names == [name for (name,) in at_once.execute("SELECT name FROM sqlite_schema ORDER BY name")]
    for name in names:
        for about in ("table_xinfo", "index_list", "index_xinfo"):
            question = f"PRAGMA {about}({name})"
            assert at_once.execute(question).fetchall() == by_steps.execute(question).fetchall()
