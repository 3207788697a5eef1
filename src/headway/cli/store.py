"""Opens the store for a command that only reads it; nothing heavy is imported for that."""

from __future__ import annotations

import sys

from headway.cli.display.terminal import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store


def looked_at(place: str | None) -> tuple[Home | None, Store]:
    """The store and the folder around it. If what will be shown may be out of date, that is said beside the answer."""
    from headway.live.home.store_location import found_store

    home, store = found_store(place, to_look=True)
    if store.remark:
        print(harmless(f"note: {store.remark}"), file=sys.stderr, flush=True)
    return home, store
