"""`mqdump`: TrellisDAG's jobs browser (Fig. 15), full-screen or by the numbers of a menu; also `headway browse`."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from headway.cli.exits import serve
from headway.cli.store import looked_at
from headway.model.errors import HeadwayError, UsageError, not_installed

if TYPE_CHECKING:
    from headway.live.answers.tree import Digits, Row, Tree
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Submitted

_HELP = """\
Usage: mqdump [STORE]

Browse the groups of the workflow that runs now, or ran last, and change how they stand.
At a terminal this is a full-screen program that follows what happens, as headway browse is. Elsewhere, and at dumb
terminals, commands are read from standard input by the numbers of a menu, a number a line, so that scripts can use it
too. headway status, enable, … do the same one by one.
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
TOP = -1  # as in answers.tree


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqdump` command: exits 0 at its end, 1 failed inside, 2 bad usage, 4 no store."""
    serve("mqdump", _HELP, words, dump)


def dump(words: Sequence[str]) -> None:
    """Browses the store that is named, or that is found."""
    if len(words) > 1:
        raise UsageError("one store, or none.", "Usage: mqdump [STORE]")
    browse_groups(words[0] if words else None)


def browse_groups(place: str | None, wanted: str | None = None, by_number: bool = False) -> None:
    """Shows the workflow of a store that runs now or ran last, or that is wanted, until its user has seen enough."""
    from headway.live.answers.which import chosen
    from headway.live.home.store_location import home_of

    home, store = looked_at(place)
    workflow = chosen(store, wanted, home)
    if is_full_screen(by_number):
        from headway.cli.display.terminal import harmless, lend_screen
        from headway.tui.browser import browse

        store.close()  # it has one of its own, in a thread
        lend_screen()
        browse(place, wanted, harmless)
    else:
        ByNumber(home_of(home, place, store, workflow.id), store, workflow).run()


def is_full_screen(by_number: bool) -> bool:
    """Whether there is a terminal that can do it, and what it takes is installed."""
    if by_number or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if os.environ.get("TERM", "") in ("", "dumb"):
        return False
    if importlib.util.find_spec("textual") is None:
        print(f"note: {not_installed('the full-screen browser', 'headway[tui]')}", file=sys.stderr, flush=True)
        return False
    return True


class ByNumber:
    """Where somebody is among the groups, and the paper's menu."""

    def __init__(self, home: Home | None, store: Store, workflow: Submitted) -> None:
        self._home = home
        self._store = store
        self._workflow = workflow
        self._path: list[str] = []  # groups that were dived into

    def run(self) -> None:
        """Until it is quit, or there is nothing more to read."""
        rows = self._show()
        while (command := _number(f"Command?(1-{QUIT}) ", QUIT, first=1)) not in (None, QUIT):
            assert command is not None
            try:
                self._do(command, rows)
            except HeadwayError as error:
                print(error)
            rows = self._show()

    def _do(self, command: int, rows: Sequence[Row]) -> None:
        if command == UP:
            self._path = self._path[:-1]
        elif command != REFRESH:
            number = _number(f"Group?(0-{len(rows) - 1}) ", len(rows) - 1)
            if number is not None:
                self._with(command, rows[number])

    def _with(self, command: int, row: Row) -> None:
        from headway.live.client.services import steer_spans
        from headway.tui.steps import STEPS

        if command == DIVE:
            if row.inside is None:
                print(f"{row.path} has no groups in it.")
            else:
                self._path.append(row.path)
        elif command == DEPENDENCIES:
            awaited = self._store.places.awaited_by(self._workflow.id, row.first, row.last)
            print(f"{row.path} waits for: {', '.join(awaited) or 'nothing'}")
        else:
            (step,) = [step for step in STEPS if step.number == command]
            for verb in step.verbs:
                outcome = steer_spans(self._store, self._home, self._workflow, verb, [row.span], only=step.only)
            print(f"{len(outcome.changed)} changed.")

    def _show(self) -> Sequence[Row]:
        """Prints the level, as the paper does, and the menu."""
        from headway.cli.display.table import table

        tree, digits = self._now()
        rows = tree.rows(tree.level(self._path[-1]) if self._path else TOP)
        found = [(row, digits.status(row)) for row in rows]
        cells = [
            [f"{at}.", str(row.id or ""), row.path, seen.word, seen.attribute, f"{seen.done} of {seen.total}"]
            for at, (row, seen) in enumerate(found)
        ]
        where = self._path[-1] if self._path else self._workflow.name
        heads = ["", "ID", "Group", "Status", "Attribute", "Done"]
        print("\n".join([where, *table(heads, cells), "", _MENU]))
        return rows

    def _now(self) -> tuple[Tree, Digits]:
        """The groups, and how they stand; jobs that a runner has prefetched and not begun do not run."""
        from headway.live.answers.status import not_begun
        from headway.live.answers.tree import Digits, Tree
        from headway.live.store.views import Counted

        watching, number = self._store.watching, self._workflow.id
        ahead = not_begun(self._store, watching.running(number), lambda _: self._home)
        counted = watching.seen_counts(number).get(number, Counted()).without(ahead)
        names = self._store.places.names(number, list(range(len(counted.digits))))
        digits = Digits(counted.digits)
        return Tree(self._store.places.groups(number), names, digits), digits


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
