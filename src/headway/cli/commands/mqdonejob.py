"""`mqdonejob id=ID`: how a job ended."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from headway.cli.exits import serve
from headway.cli.pairs import pairs
from headway.model.errors import UsageError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from headway.live.store import Store
    from headway.live.store.callers import Given
    from headway.model.messages import Finish

_HELP = """\
Usage: mqdonejob id=ID [exit_code=N] [KEY=VALUE]...
       mqdonejob id=ID back=REASON

Tell how a job ended: what waits for it may go on, or it is tried again, or it has failed. Told again, nothing changes.

  id=ID         as mqnextjob has printed it
  exit_code=N   how it ended; without it, 0
  back=REASON   it did not run to its end, and counts for nothing: somebody else runs it
  started=T     when it began and ended, in seconds since 1970 ...
  ended=T
  now=T         ... by the clock that says it is now T; without it, by the store's
  max_rss=N     bytes of memory that it took at most
  cpu_seconds=N seconds of CPU that it took; also as the shell's times prints them: "0m1.5s 0m0.1s"
  tail=-        the last lines that it printed are on standard input
  store=PLACE   the store; without it, HEADWAY_STORE, headway.toml, or the nearest .headway here or above

Exits 0 recorded, also if it was recorded before; 1 if the store cannot be reached: tell it again; 2 for bad usage; 4 if
the id is not good any more, so that this end does not count, or there is no store.
"""
KEYS = ("id", "exit_code", "back", "started", "ended", "now", "max_rss", "cpu_seconds", "tail", "store")
LONGEST = 2048  # bytes of the last lines
_LARGE = 1 << 62


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqdonejob` command: exits 0 recorded, 1 failed inside, 2 bad usage, 4 no such job."""
    serve("mqdonejob", _HELP, words, done)


def done(words: Sequence[str]) -> None:
    """Records the end."""
    told = pairs("mqdonejob", words, KEYS, ("id",))
    if "exit_code" in told and "back" in told:
        raise UsageError("a job has an exit code, or is given back.", "Give one of exit_code=N and back=REASON.")
    if told.get("tail", "-") != "-":
        raise UsageError(f"tail={shown(told['tail'])} does not fit.", "Expected tail=-: the lines are read.")
    numbers = {key: _number(key, told[key]) for key in ("started", "ended", "now") if key in told}
    numbers |= {"cpu_seconds": _cpu(told["cpu_seconds"])} if "cpu_seconds" in told else {}
    code, memory = _whole("exit_code", told, -64, 255), _whole("max_rss", told, 0, _LARGE)
    from headway.live.doors.services import Services
    from headway.live.home.store_location import opened_store

    store = opened_store(told.get("store"))
    services = Services(store)
    given = services.given(told["id"])
    services.done(told["id"], _finish(store, given, told, numbers, code, memory))


def _finish(
    store: Store, given: Given, told: Mapping[str, str], numbers: Mapping[str, float], code: int, memory: int
) -> Finish:
    from headway.model.messages import Finish

    now = store.clock()
    ahead = now - numbers["now"] if "now" in numbers else 0.0
    ended = min(now, numbers["ended"] + ahead) if "ended" in numbers else now
    started = min(ended, numbers["started"] + ahead) if "started" in numbers else given.began
    if "back" in told:
        return Finish(given.lease, None, started, ended, reason=told["back"] or "given back")
    tail = _tail() if "tail" in told and code else ""
    return Finish(given.lease, code, started, ended, memory, numbers.get("cpu_seconds", 0.0), tail=tail)


def _tail() -> str:
    return sys.stdin.buffer.read(1 << 20)[-LONGEST:].decode(errors="replace").replace("\0", "")


def _number(key: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < _LARGE:
        raise UsageError(f"{key}={shown(text)} does not fit.", "Expected a number of seconds.")
    return found


def _cpu(text: str) -> float:
    """A number of seconds, or what a shell says of itself or of its children: minutes and seconds, twice."""
    if not text.endswith("s"):
        return _number("cpu_seconds", text)
    import re

    parts = re.findall(r"([0-9]{1,9})m([0-9]{1,9}(?:[.][0-9]{1,9})?)s", text)
    if " ".join(f"{minutes}m{seconds}s" for minutes, seconds in parts) != text:
        raise UsageError(f"cpu_seconds={shown(text)} does not fit.", "Expected a number of seconds.")
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in parts)


def _whole(key: str, told: Mapping[str, str], least: int, most: int) -> int:
    text = told.get(key, "0")
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 20 and least <= int(text) <= most):
        raise UsageError(f"{key}={shown(text)} does not fit.", f"Expected a whole number from {least} to {most}.")
    return int(text)


if __name__ == "__main__":
    main()
