"""The roster or the spool was deleted or replaced while its runner works: the runner writes it again and says so."""

from __future__ import annotations

import os
from pathlib import Path

from headway.live.placeholder.aside import set_aside
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.spool import Spool
from headway.model.errors import HeadwayError


def renewed(file: Roster | Spool, path: Path) -> str:
    """Writes a file to its place again, or says why that cannot be done; either way, what happened."""
    what = f"{path} was deleted while jobs ran."
    try:
        if os.path.lexists(path):
            what = f"{path} was replaced while jobs ran."
            what = set_aside(path, "was replaced while jobs ran")
        file.rewrite(path)
    except (OSError, HeadwayError) as error:
        why = error.what if isinstance(error, HeadwayError) else f"{error.strerror}."
        which = "that are running then" if isinstance(file, Roster) else "that have ended and are not recorded by then"
        return (
            f"{what} It cannot be written again: {why} The run goes on, but should its runner die,"
            f" jobs {which} are started again."
        )
    return f"{what} The runner has written it again: nothing is lost."
