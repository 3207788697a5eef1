"""`mqdump`: TrellisDAG's jobs browser (Fig. 15): dive into groups, see how they stand, change that by number."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from headway.cli.exits import serve
from headway.cli.store import looked_at
from headway.model.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.live.answers.status import GroupStatus
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Span, Submitted

_HELP = """\
Usage: mqdump [STORE]

Browse the groups of the workflow that runs now, or ran last, and change how they stand, by the numbers of a menu.
Commands are read from standard input, a number a line, so that scripts can use it too. headway status, enable, … do
the same one by one.
The store is STORE (a folder or a URL), HEADWAY_STORE, or the nearest .headway here or above.
"""
_MENU = """\
1. Dive
2. Show dependencies
3. Enable         4. Disable
5. Not started    6. Done
7. Stop           8. Stop-Disable
9. Up
10. Refresh
11. Quit"""
DIVE, DEPENDENCIES, UP, REFRESH, QUIT = 1, 2, 9, 10, 11
_VERBS = {3: ("enable",), 4: ("disable",), 5: ("redo",), 6: ("done",), 7: ("stop", "enable"), 8: ("stop",)}
_WORDS = {"waiting": "Not started", "eligible": "Not started", "later": "Not started"}


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqdump` command: exits 0 at its end, 1 failed inside, 2 bad usage, 4 no store."""
    serve("mqdump", _HELP, words, browse)


def browse(words: Sequence[str]) -> None:
    """Shows the workflow of a store that runs now or ran last, and does what is typed."""
    if len(words) > 1:
        raise UsageError("one store, or none.", "Usage: mqdump [STORE]")
    from headway.live.answers.which import chosen
    from headway.live.home.store_location import home_of

    place = words[0] if words else None
    home, store = looked_at(place)
    workflow = chosen(store, None, home)
    Browser(home_of(home, place, store, workflow.id), store, workflow).run()


class Browser:
    """Where somebody is among the groups."""

    def __init__(self, home: Home | None, store: Store, workflow: Submitted) -> None:
        self._home = home
        self._store = store
        self._workflow = workflow
        self._path: list[str] = []  # groups that were dived into

    def run(self) -> None:
        """Until it is quit, or there is nothing more to read."""
        groups = self._show()
        while (command := _number(f"Command?(1-{QUIT}) ", QUIT, first=1)) not in (None, QUIT):
            assert command is not None
            try:
                self._do(command, groups)
            except HeadwayError as error:
                print(error)
            groups = self._show()

    def _do(self, command: int, groups: Sequence[GroupStatus]) -> None:
        if command == UP:
            self._path = self._path[:-1]
        elif command != REFRESH:
            number = _number(f"Group?(0-{len(groups) - 1}) ", len(groups) - 1)
            if number is not None:
                self._with(command, groups[number].span)

    def _with(self, command: int, span: Span) -> None:
        from headway.live.client.services import steer_spans

        path = span.path
        if command == DIVE:
            if span.first == span.last:
                print(f"{path} has no groups in it.")
            else:
                self._path.append(path)
        elif command == DEPENDENCIES:
            awaited = self._store.places.awaited_by(self._workflow.id, span.first, span.last)
            print(f"{path} waits for: {', '.join(awaited) or 'nothing'}")
        else:
            for verb in _VERBS[command]:
                outcome = steer_spans(self._store, self._home, self._workflow, verb, [span], only=verb == "redo")
            print(f"{len(outcome.changed)} changed.")

    def _show(self) -> Sequence[GroupStatus]:
        """Prints the level, as the paper does, and the menu."""
        from headway.cli.display.table import table
        from headway.engine.groups import WORDS
        from headway.live.answers.status import status
        from headway.model.states import State

        path = self._path[-1] if self._path else None
        groups = status(self._store, self._workflow, path, only=True, home_of=lambda _: self._home).groups
        rows = []
        for at, group in enumerate(groups):
            total, done = sum(group.counts.values()), group.counts.get(State.DONE, 0)
            word = WORDS[group.state]
            shown = _WORDS.get(word, word.capitalize())
            off = "Disabled" if group.counts.get(State.DISABLED) else "None"
            rows.append([f"{at}.", group.path, shown, off, f"{done} of {total}"])
        where = self._path[-1] if self._path else self._workflow.name
        lines = [where, *table(["", "Group", "Status", "Attribute", "Done"], rows), "", _MENU]
        print("\n".join(lines))
        return groups


def _number(prompt: str, most: int, first: int = 0) -> int | None:
    """A number that was typed, asked for until it is one; None at the end of the input."""
    while True:
        print(prompt, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            print()
            return None
        if line.strip().isdecimal() and first <= int(line) <= most:
            return int(line)
        print(f"Expected a number from {first} to {most}.")


if __name__ == "__main__":
    main()
