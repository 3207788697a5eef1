"""`headway status [GROUP]`: how far it is, and what runs."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import shortened, table
from headway.cli.display.terminal import harmless
from headway.cli.options import store_options
from headway.cli.store import looked_at
from headway.engine.explain import named
from headway.engine.groups import WORDS
from headway.live.answers.status import answer
from headway.model.quantities import duration
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.client.services import Counts, GroupStatus, Status

MOST = 30  # groups, and running jobs, that people are shown
_URGENT = (State.RUNNING, State.FAILED, State.DISABLED, State.LATER, State.ELIGIBLE, State.WAITING, State.DONE)


@click.command("status", short_help="How far it is: groups, counts, running jobs.")
@click.argument("group", required=False)
@store_options
@click.option("--all", "show_all", is_flag=True, help=f"Every group, not just the first {MOST}.")
@click.option("--watch", type=click.FloatRange(min=0.1), metavar="SECONDS", help="Again and again, until Ctrl-C.")
def command(
    group: str | None,
    place: str | None,
    wanted: str | None,
    as_json: bool,
    show_all: bool,
    watch: float | None,
) -> None:
    """Show how far a workflow is: its groups with their states and counts, and the jobs that run now.

    With GROUP, the groups and jobs right below it. A job says how it is itself with mqstatus.

    \b
      headway status
      headway status VS_2_1
      headway status --watch 5
    """
    from headway.live.answers.which import chosen
    from headway.live.client.services import status
    from headway.live.home.store_location import home_of

    home, store = looked_at(place)
    while True:
        homes = partial(home_of, home, place, store)
        found = status(store, chosen(store, wanted, home), group, only=wanted is not None, home_of=homes)
        if as_json:
            print_json(answer(found))
        else:
            lines = text(found, store.clock(), shutil.get_terminal_size().columns, None if show_all else MOST)
            if watch:
                click.clear()
            click.echo("\n".join(lines))
        if not watch:
            return
        time.sleep(watch)


def text(found: Status, now: float, columns: int, most: int | None) -> list[str]:
    """The same for people."""
    lines = []
    for one, counts in found.workflows[:5]:
        mark = "" if len(found.workflows) == 1 else "* " if one == found.workflow else "  "
        lines.append(harmless(f"{mark}{one.name} ({one.id}): {summary(counts)}"))
    if len(found.workflows) > 5:
        lines.append(f"  and {len(found.workflows) - 5} older ones")
    if found.groups:
        lines += ["", *_groups(found.groups, most)]
    if found.running:
        lines += ["", *_running(found, now, columns, most)]
    if found.premature_starts:
        doubtful = list(dict.fromkeys(name for name, _ in found.premature_starts))
        failed = list(dict.fromkeys(because for _, because in found.premature_starts))
        lines += [
            "",
            f"In doubt: {named(doubtful)} began before {named(failed)} failed."
            f" headway redo {shlex.join(failed[:3])} covers {'it' if len(doubtful) == 1 else 'them'}.",
        ]
    return lines


def summary(counts: Counts) -> str:
    """Counts in a line, without those of nothing."""
    total = sum(counts.values())
    if total and counts.get(State.DONE) == total:
        return f"all {total:,} jobs done" if total > 1 else "its job is done"
    said = [f"{counts[state]:,} {word}" for state, word in WORDS.items() if counts.get(state)]
    return f"{total:,} job{'s' * (total != 1)}: {', '.join(said)}" if said else "no jobs"


def _groups(groups: Sequence[GroupStatus], most: int | None) -> list[str]:
    """Those where something happens or went wrong come first if not all can be shown."""
    listed = list(groups)
    if most is not None and len(listed) > most:
        first = sorted(range(len(listed)), key=lambda at: _URGENT.index(listed[at].state))[:most]
        listed = [listed[at] for at in sorted(first)]
    states = [state for state in WORDS if any(group.counts.get(state) for group in groups)]
    rows = [
        [group.path, WORDS[group.state], *(f"{group.counts.get(state, 0) or '·'}" for state in states)]
        for group in listed
    ]
    lines = table(["group", "state", *(f">{WORDS[state]}" for state in states)], rows)
    if len(listed) < len(groups):
        lines.append(f"and {len(groups) - len(listed):,} more (--all)")
    return lines


def _running(found: Status, now: float, columns: int, most: int | None) -> list[str]:
    jobs = found.running if most is None else found.running[:most]
    rows = [
        [
            job.name,
            shortened(job.command, max(20, columns // 3)),
            job.host,
            duration(int(now - job.started)),
            job.status,
        ]
        for job in jobs
    ]
    lines = table(["running", "command", "host", ">for", "status"], rows)
    if len(jobs) < len(found.running):
        lines.append(f"and {len(found.running) - len(jobs):,} more (--all)")
    return lines
