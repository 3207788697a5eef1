"""A job's word on itself, kept without the rest of a store: jobs may say something every second."""

from __future__ import annotations

import sqlite3

from headway.live.store.text import encode
from headway.model.errors import HeadwayError

# The same as the statement `say`, which every other store uses; a test holds them together.
_SAY = "UPDATE attempts SET status = ? WHERE id = ? AND ended IS NULL"


def say(database: str, store: str, lease: int, status: str) -> bool:
    """Whether a job of that store, whose id may be left out, has that lease now."""
    db = None
    try:
        db = sqlite3.connect(database, isolation_level=None, timeout=60)
        (mark,) = db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
        return store in ("", mark) and db.execute(_SAY, (encode(status), lease)).rowcount > 0
    except (sqlite3.Error, TypeError) as error:
        raise HeadwayError(f"{database}: what was said is not kept: {error}.", "See whether it is a store.") from None
    finally:
        if db is not None:
            db.close()
