"""Writes migrations/whole-sqlite.sql: scripts/whole-schema runs it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from headway.live.store import migration
from headway.live.store.sqlite_file import migrated


def text(folder: Path = migration.FOLDER) -> str:
    """The schema that all migrations of a folder make, as statements in the order in which they were made."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrated(db, folder, "the schema", new=True)
    found = db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    statements = "".join(f"{_plain(sql)};\n" for (sql,) in found)
    head = f"-- Written by scripts/whole-schema: what the migrations make up to number {migration.newest(folder)}"
    return f"{head}\n{statements}"


def _plain(sql: str) -> str:
    """Without the blank space at the ends of lines that columns added later leave."""
    return "\n".join(line.rstrip() for line in sql.splitlines())


if __name__ == "__main__":
    (migration.FOLDER / "whole-sqlite.sql").write_text(text())
