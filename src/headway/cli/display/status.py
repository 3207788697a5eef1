"""What `headway status` shows. It is called again and again, so it imports little: no click, for one."""

from __future__ import annotations

from functools import partial

from headway.cli.display.table import shortened, table, without_local
from headway.cli.display.terminal import harmless
from headway.cli.store import looked_at
from headway.engine.groups import WORDS
from headway.live.answers.status import answer, status
from headway.live.answers.which import chosen
from headway.live.home.store_location import home_of
from headway.model.quantities import duration
from headway.model.states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.answers.status import Counts, Status

MOST = 30  # groups, and running jobs, that people are shown


def show(
    group: str | None = None,
    place: str | None = None,
    wanted: str | None = None,
    as_json: bool = False,
    show_all: bool = False,
    watch: float | None = None,
) -> None:
    """Prints how far a workflow is; with `watch` again and again."""
    home, store = looked_at(place)
    homes, most = partial(home_of, home, place, store), None if show_all else MOST
    while True:
        workflow = chosen(store, wanted, home)
        found = status(store, workflow, group, wanted is not None, homes, None if as_json else most)
        if as_json:
            from headway.cli.display.answer import print_json

            print_json(answer(found))
        else:
            lines = text(found, store.clock(), most)
            if watch:
                from click import clear

                clear()
            print("\n".join(lines), flush=True)
        if not watch:
            return
        from time import sleep

        sleep(watch)


def text(found: Status, now: float, most: int | None) -> list[str]:
    """How far it is, for people."""
    lines = []
    for one, counts in found.workflows[:5]:
        mark = "" if len(found.workflows) == 1 else "* " if one == found.workflow else "  "
        lines.append(harmless(f"{mark}{one.name} ({one.id}): {summary(counts)}"))
    if len(found.workflows) > 5:
        lines.append(f"  and {len(found.workflows) - 5} older ones")
    if found.groups:
        lines += ["", *_groups(found)]
    if found.running:
        lines += ["", *_running(found, now, most)]
    if found.premature_starts:
        from shlex import join

        from headway.engine.explain import named

        doubtful = list(dict.fromkeys(name for name, _ in found.premature_starts))
        failed = list(dict.fromkeys(because for _, because in found.premature_starts))
        lines += [
            "",
            f"In doubt: {named(doubtful)} began before {named(failed)} failed."
            f" headway redo {join(failed[:3])} covers {'it' if len(doubtful) == 1 else 'them'}.",
        ]
    return lines


def summary(counts: Counts) -> str:
    """Counts in a line, without those of nothing."""
    total = sum(counts.values())
    if total and counts.get(State.DONE) == total:
        return f"all {total:,} jobs done" if total > 1 else "its job is done"
    said = [f"{counts[state]:,} {word}" for state, word in WORDS.items() if counts.get(state)]
    return f"{total:,} job{'s' * (total != 1)}: {', '.join(said)}" if said else "no jobs"


def _groups(found: Status) -> list[str]:
    states = [state for state in WORDS if state in found.states]
    rows = [
        [group.path, WORDS[group.state], *(f"{group.counts.get(state, 0) or '·'}" for state in states)]
        for group in found.groups
    ]
    lines = table(["group", "state", *(f">{WORDS[state]}" for state in states)], rows)
    if found.more:
        lines.append(f"and {found.more:,} more (--all)")
    return lines


def _running(found: Status, now: float, most: int | None) -> list[str]:
    from shutil import get_terminal_size

    columns = get_terminal_size().columns
    jobs = found.running if most is None else found.running[:most]
    rows = [
        [
            job.name,
            shortened(job.command, max(20, columns // 3)),
            job.site,
            job.host,
            duration(int(now - job.started)),
            job.status,
        ]
        for job in jobs
    ]
    lines = table(*without_local(["running", "command", "site", "host", ">for", "status"], rows))
    if len(jobs) < len(found.running):
        lines.append(f"and {len(found.running) - len(jobs):,} more (--all)")
    return lines
