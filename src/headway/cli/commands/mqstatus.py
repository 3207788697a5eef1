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
Usage: mqstatus [status=]TEXT...
       mqstatus KEY=VALUE...
       mqstatus id=ID [store=PLACE] [status=]TEXT...

Called by a job while it runs: say how it is. The last word is shown by mqstat and headway status.
Which job it is stands in HEADWAY_LEASE, and its store in HEADWAY_STORE; Headway sets both for every job. A job on
another host says id=$HEADWAY_LEASE over ssh. The store is then PLACE; without it, that of HEADWAY_STORE or headway.toml
there, or the nearest .headway here or above.

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
    lease, place, said = _told(words)
    if not said:
        raise UsageError("nothing is said.", 'Say something: mqstatus "half done".')
    mark, _, number = environment.get("HEADWAY_LEASE", "").rpartition(".")
    if lease is not None and "." in lease:  # as mqnextjob has printed it
        mark, _, lease = lease.rpartition(".")
    if lease is None and not number.isdecimal():
        raise UsageError("which job this is is not known.", "Call it from a job that Headway runs, or say id=ID.")
    lease, is_named = (number, False) if lease is None else (lease, True)
    if not (lease.isdecimal() and lease.isascii()):
        raise UsageError(f"{shown(lease)} is no id.", "Give the id as mqnextjob has printed it, or HEADWAY_LEASE.")
    ready, store = _is_ready(said), mark.partition("-")[0]
    text = " ".join(word.removeprefix("status=") for word in said)
    folder = "" if place else environment.get("HEADWAY_HOME")
    place = (environment.get("HEADWAY_STORE") if not place else "") or _found(place, is_named)
    is_held: bool | None = False
    if len(lease) <= _LONGEST:
        is_held = _passed_on(folder or place, store, int(lease), text, ready)
        if is_held is None:
            is_held = _kept(place, store, int(lease), text, ready)
    if not is_held:
        raise NotFoundError(
            f"no job of {shown(place)} has the lease {shown(lease)} now.",
            "It has ended, or was given to somebody else.",
        )


def _found(place: str, is_named: bool) -> str:
    """The store at a place; without one, that of headway.toml, or for a job that is named the nearest one."""
    from headway.live.home.store_location import given_store, store_place

    if place or is_named:
        return store_place(place)
    found = given_store()
    if found is None:
        raise UsageError("its store is not known.", "Call it from a job that Headway runs, or set HEADWAY_STORE.")
    return found


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


def _told(words: Sequence[str]) -> tuple[str | None, str, list[str]]:
    """The id and the store that are named, if they are, and what is said."""
    lease, place, said = None, "", list[str]()
    has_id = any(word.startswith("id=") for word in words)
    for word in words:
        if word.startswith("id="):
            lease = word[3:]
        elif word.startswith("store=") and has_id:  # without an id it is a word of the job's own
            place = word[6:]
        else:
            said.append(word)
    return lease, place, said


def _is_ready(words: Sequence[str]) -> bool:
    if list(words) in (["ready"], ["status=ready"]):
        return True
    pairs = (word.partition("=") for word in words)
    return any(key.lower() == "provisionerstate" and value.lower() in _READY for key, _, value in pairs)


if __name__ == "__main__":
    main()
