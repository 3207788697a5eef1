"""How large a DAG is with its splices taken in, found out before any is: small files can multiply to billions."""

from __future__ import annotations

from collections.abc import Callable

from headway.formats.dagman.words import NODES, WordError, canonical, unquoted
from headway.formats.world import World

MOST_FILES = 100_000  # splices and includes that a DAG may take in


class Sizes:
    """Counts each file once, however often it is taken in."""

    def __init__(self, world: World, find: Callable[[str, str], str | None]) -> None:
        self.world = world
        self.find = find  # where a file lies, seen from the DIRs around it
        self.known: dict[tuple[str, str], tuple[int, int]] = {}

    def check(self, path: str) -> None:
        """Refuses a DAG that becomes too large."""
        nodes, files = self.of(path, "")
        if nodes > self.world.most_nodes:
            what = f"with its splices the DAG has {nodes:,} nodes, and the limit is {self.world.most_nodes:,}."
            raise WordError(what, "Do splices multiply? If that is meant, set HEADWAY_MOST_NODES to a higher number.")
        if files > MOST_FILES:
            what = f"{files:,} files are taken in, and the limit is {MOST_FILES:,}."
            raise WordError(what, "Do splices or includes multiply?")

    def of(self, path: str, inside: str) -> tuple[int, int]:
        """Nodes of a file, and files that it takes in, itself included."""
        key = (path, inside)
        if key not in self.known:
            self.known[key] = (0, 0)  # of a file that takes itself in: an error that is told when it is read
            self.known[key] = self._counted(path, inside)
        return self.known[key]

    def _counted(self, path: str, inside: str) -> tuple[int, int]:
        nodes, files = 0, 1
        for line in self.world.lines(path):
            words = line.split(None, 5)
            keyword = canonical(words[0]) if words else ""
            if keyword in NODES:
                nodes += 1
            elif keyword in ("SPLICE", "INCLUDE"):
                named, around = words[2 if keyword == "SPLICE" else 1 :][:1], inside
                if keyword == "SPLICE" and len(words) > 4 and words[3].upper() == "DIR":
                    around = f"{inside}/{unquoted(words[4])}" if inside else unquoted(words[4])
                found = self.find(unquoted(named[0]), around) if named else None
                if found is not None:
                    more = self.of(found, around)
                    nodes, files = nodes + more[0], files + more[1]
        return nodes, files
