"""`headway serve`: a door to a store, for placeholders on other hosts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from headway.cli.configured import Configured


@click.command("serve", cls=Configured, short_help="Let placeholders on other hosts take jobs from a store.")
@click.option(
    "--store",
    envvar="HEADWAY_STORE",
    metavar="FOLDER|URL",
    help="The store; without it, $HEADWAY_STORE, or .headway in this folder or the nearest above.",
)
@click.option(
    "--listen",
    default="127.0.0.1",
    metavar="HOST[:PORT]",
    help="The address of this computer to listen at. Default: only for programs on this computer.",
)
def command(store: str | None, listen: str) -> int:
    """Open a door to a store, over TLS 1.3, until Ctrl-C. A placeholder needs the card that is written: copy it as you
    would copy a key. Remove it before the next start, and nobody who has it comes in any more.

    \b
      headway serve --listen 10.0.0.7:7788
      scp .headway/door.card lab7:          and there: headway placeholder --server door.card
    """
    from headway.live.client.placeholder import served_place
    from headway.live.doors.serve_store import StoreDoor
    from headway.live.home.store_location import given_store
    from headway.live.store import is_server, opened

    place = served_place(given_store(store))
    if is_server(place):
        found = opened(place)
        state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "headway"
        folder = state / f"{found.id}-door"
        found.close()
    else:
        folder = Path(place).parent
    door = StoreDoor(place, folder, listen)

    def tell(host: str, port: int) -> None:
        print(f"serving at {host}:{port}; Ctrl-C ends it. The card for placeholders:", file=sys.stderr)
        print(door.card, flush=True)

    door.run(tell)
    return 0
