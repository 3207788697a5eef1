"""`mqgetjobcommand id=ID`: the command line of a job."""

from __future__ import annotations

from collections.abc import Sequence

from headway.cli.display.terminal import write_content
from headway.cli.exits import serve
from headway.cli.pairs import pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_HELP = """\
Usage: mqgetjobcommand id=ID [store=PLACE]

Print the command line of the job that mqnextjob gave this id. Run it with sh in the job's folder, with its environment:
mqgetjobattribute id=ID attribute=script prints all of that as a script.

  id=ID        as mqnextjob has printed it
  store=PLACE  the store; without it, HEADWAY_STORE, headway.toml, or the nearest .headway here or above

Exits 0, 1 if the store cannot be reached, 2 for bad usage, 4 if the id is not good (any more), or there is no store.
"""


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqgetjobcommand` command: exits 0 printed, 1 failed inside, 2 bad usage, 4 no such job."""
    serve("mqgetjobcommand", _HELP, words, show)


def show(words: Sequence[str]) -> None:
    """Prints the command line."""
    told = pairs("mqgetjobcommand", words, ("id", "store"), ("id",))
    from headway.live.doors.services import Services
    from headway.live.home.store_location import opened_store
    from headway.live.store.spec import Spec

    store = opened_store(told.get("store"))
    _, lease = Services(store).running(told["id"])
    store.callers.begin(lease.id, store.clock())
    write_content(f"{Spec.read(lease.spec).command}\n".encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    main()
