"""Brings a store's schema forward: numbered files, each applied once, in order. The first one makes the tables."""

from __future__ import annotations

from pathlib import Path

from headway.live.store.statements import script
from headway.model.errors import HeadwayError

FOLDER = Path(__file__).with_name("migrations")


def numbered(folder: Path) -> list[tuple[int, Path]]:
    """The migrations there are, by number."""
    found = (path for path in folder.iterdir() if path.suffix == ".sql" and path.name[0].isdigit())
    return sorted((int(path.name.partition("-")[0]), path) for path in found)


def newest(folder: Path) -> int:
    """The schema that this Headway writes."""
    return numbered(folder)[-1][0]


def whole(folder: Path, dialect: str) -> tuple[int, list[str]] | None:
    """What all migrations together make, for a new store: a fifth of the work. None if that was not written down.

    scripts/whole-schema writes it; its first line has the number of the last migration in it.
    """
    path = folder / f"whole-{dialect}.sql"
    if not path.exists():
        return None
    text = path.read_text()
    version = int(text.partition("\n")[0].rpartition(" ")[2])
    return (version, script(text, dialect)) if version == newest(folder) else None


def pending(version: int, folder: Path, dialect: str, store: str) -> list[tuple[int, list[str]]]:
    """What a store at this version lacks: numbers and their statements. A newer one is refused."""
    files = numbered(folder)
    if version > files[-1][0]:
        raise HeadwayError(
            f"{store} was written by a newer Headway (schema {version}, this one knows {files[-1][0]}).",
            "Use that version, or another --store.",
        )
    return [(number, script(path.read_text(), dialect)) for number, path in files if number > version]
