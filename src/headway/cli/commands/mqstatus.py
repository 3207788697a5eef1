"""`mqstatus key=value…`: what a running job says of itself. Jobs call it often, so it imports little."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from headway.cli.exits import serve
from headway.model.errors import HeadwayError, NotFoundError, UsageError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_HELP = """\
Usage: mqstatus [id=ID] [status=]TEXT...
       mqstatus KEY=VALUE...

Called by a job while it runs: say how it is. The last word is shown by mqstat and headway status.
Which job it is stands in HEADWAY_LEASE, and its store in HEADWAY_STORE; Headway sets both for every job. A job on
another host says id=$HEADWAY_LEASE over ssh; the store is then that of HEADWAY_STORE or headway.toml there.

A DAGMan PROVISIONER node that says ready, or ProvisionerState=2, lets the rest of the workflow start.
"""
_PATIENCE = 60.0  # seconds that the runner may take
_LONGEST = 18  # digits of a number that every database knows
# The same as the statement `say`, which every other way to a store uses; a test holds them together.
_SAY = "UPDATE attempts SET status = ? WHERE id = ? AND ended IS NULL"
_READY = ("2", "ready", "provisioning_complete")


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqstatus` command: exits 0 said, 1 failed inside, 2 bad usage, 4 no such job."""
    serve("mqstatus", _HELP, words, lambda given: say(given, os.environ))


def say(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Keeps what the words say, as the status of the job that they are of."""
    if not words:
        raise UsageError("nothing is said.", 'Say something: mqstatus "half done".')
    lease, said = _told(words)
    mark, _, number = environment.get("HEADWAY_LEASE", "").rpartition(".")
    if "." in lease:  # as mqnextjob has printed it
        mark, _, lease = lease.rpartition(".")
    lease = lease or number
    if not lease.isdecimal():
        raise UsageError("which job this is is not known.", "Call it from a job that Headway runs, or say id=ID.")
    place, ready, store = environment.get("HEADWAY_STORE") or _named(), _is_ready(words), mark.partition("-")[0]
    is_held: bool | None = False
    if len(lease) <= _LONGEST:
        is_held = _passed_on(environment.get("HEADWAY_HOME") or place, store, int(lease), said, ready)
        if is_held is None:
            is_held = _kept(place, store, int(lease), said, ready)
    if not is_held:
        raise NotFoundError(
            f"no job of {shown(place)} has the lease {shown(lease)} now.",
            "It has ended, or was given to somebody else.",
        )


def _named() -> str:
    """The store that headway.toml names."""
    from headway.live.home.store_location import given_store

    place = given_store()
    if place is None:
        raise UsageError("its store is not known.", "Call it from a job that Headway runs, or set HEADWAY_STORE.")
    return place


def _passed_on(folder: str, mark: str, lease: int, said: str, ready: bool) -> bool | None:
    """The same through the runner, which has the store open; None if there is none, or if it has another store."""
    if not os.path.exists(os.path.join(folder, "runner.sock")):  # noqa: PTH110, PTH118 - each import counts
        return None
    from pathlib import Path

    from headway.live.client.line import answered
    from headway.live.client.messages import Heard, Say
    from headway.live.doors.messages import Word
    from headway.live.home.folder import Home

    heard = answered(Home(Path(folder), to_look=True), Say(Word(lease, mark, said, ready)), _PATIENCE)
    return heard.said if isinstance(heard, Heard) else None


def _kept(place: str, mark: str, lease: int, said: str, ready: bool) -> bool:
    """The same in the store itself: nobody runs jobs there now."""
    file = os.path.join(place, "store.db")  # noqa: PTH118
    if os.path.isfile(file) and not ready:  # noqa: PTH113
        from headway.live.home.ownership import check_file, check_folder

        check_folder(place)
        check_file(file)
        return _kept_in(file, mark, lease, said)
    from headway.live.home.store_location import found_store
    from headway.model.messages import LeaseId

    _, store = found_store(place)
    is_held = mark in ("", store.id) and store.steering.say(LeaseId(lease), said)
    if is_held and ready:
        store.steering.ready(LeaseId(lease))
    return is_held


def _kept_in(file: str, mark: str, lease: int, said: str) -> bool:
    """The same in the file of an embedded store, without the code of a store: jobs may say something every second."""
    import sqlite3

    from headway.live.store.text import encode

    db = None
    try:
        db = sqlite3.connect(file, isolation_level=None, timeout=60)
        (store,) = db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
        return mark in ("", store) and db.execute(_SAY, (encode(said), lease)).rowcount > 0
    except (sqlite3.Error, TypeError) as error:
        raise HeadwayError(f"{file}: what was said is not kept: {error}.", "See whether it is a store.") from None
    finally:
        if db is not None:
            db.close()


def _told(words: Sequence[str]) -> tuple[str, str]:
    """The lease that is named, if one is, and what is said."""
    lease, rest = "", list[str]()
    for word in words:
        key, sign, value = word.partition("=")
        if sign and key == "id":
            lease = value
        else:
            rest.append(value if sign and key == "status" else word)
    return lease, " ".join(rest)


def _is_ready(words: Sequence[str]) -> bool:
    if list(words) in (["ready"], ["status=ready"]):
        return True
    pairs = (word.partition("=") for word in words)
    return any(key.lower() == "provisionerstate" and value.lower() in _READY for key, _, value in pairs)


if __name__ == "__main__":
    main()
