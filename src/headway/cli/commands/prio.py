"""`headway prio FILE.dag`: the PRIO tool for HTCondor users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import write_content
from headway.live.answers.prio import answer
from headway.model.errors import InputError, UsageError
from headway.policies.what_next import ORDERS

if TYPE_CHECKING:
    from headway.formats.dagman.instrument import Instrumented
    from headway.live.reading.files import Files


@click.command("prio", short_help="Write priorities into a DAGMan file.")
@click.argument("path", metavar="FILE.dag", type=click.Path(readable=False))
@click.option(
    "--style",
    type=click.Choice(["priority", "vars"]),
    default="priority",
    help="priority: PRIORITY lines, which DAGMan itself heeds. vars: the PRIO paper's Vars lines and a line in each "
    "submit file, which only HTCondor's queue heeds.",
)
@click.option("--by", default="prio", metavar="NAME", help=f"The order to follow: {', '.join(ORDERS)}.")
@click.option("--dry-run", is_flag=True, help="Change nothing: show what would be changed, as a diff.")
@click.option("--undo", is_flag=True, help="Take Headway's lines out again, to the byte.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(path: str, style: str, by: str, dry_run: bool, undo: bool, as_json: bool) -> None:
    """Write priorities into a DAGMan file, so that HTCondor keeps as many jobs eligible as it can.

    Only lines are added, between two comments; yours stay as they are. Called again, it replaces its own. Nodes of a
    splice get theirs in the splice's file.

    \b
      headway prio my.dag && condor_submit_dag my.dag
      headway prio my.dag --dry-run
      headway prio my.dag --undo
    """
    found = _result(path, by, style, undo)
    if not dry_run:
        from headway.live.reading.rewrite import replace_all

        replace_all((change.path, change.after) for change in found.changes)
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        print_json(answer(found, None if undo else by, None if undo else style, dry_run))
    elif dry_run:
        _show_diff(found)
    else:
        click.echo(_said(found, undo))


def _result(path: str, by: str, style: str, undo: bool) -> Instrumented:
    """What is to be changed; nothing is yet."""
    from headway.policies.what_next import order

    ranks = order(by) if not undo else None
    files = _files(path)
    from headway.formats.dagman.instrument import instrumented, restored
    from headway.live.reading.read import no_collection

    with no_collection():
        try:
            return restored(path, files) if ranks is None else instrumented(path, files, ranks, style)
        except RecursionError:
            raise InputError(path, 1, "splices or includes are nested too deeply.", "Use fewer levels.") from None


def _files(path: str) -> Files:
    """The files of this machine, once it is clear that `path` is one of them, and a DAGMan file."""
    from headway.formats import registry
    from headway.live.reading.files import Files

    if path == "-" or (Path(path).exists() and not Path(path).is_file()):
        raise UsageError("priorities are written into a file.", "Name a DAGMan file.")
    files = Files()
    if registry.detect(path, files.head(path)).name != "dagman":
        raise InputError(
            path, 1, "this is no DAGMan file.", "Convert it first: headway convert W --to dagman -o W.dag."
        )
    return files


def _show_diff(found: Instrumented) -> None:
    from headway.cli.display.diff import unified

    for change in found.changes:
        for line in unified(change.path, change.before, change.after):
            write_content(line.encode("utf-8", "surrogateescape"))


def _said(found: Instrumented, undo: bool) -> str:
    from headway.cli.display.terminal import harmless

    files = [change.path for change in found.changes]
    some = files if len(files) <= 5 else [*files[:4], f"{len(files) - 4:,} more files"]
    changed = f"changed {', '.join(some)}" if files else "nothing to change"
    if undo:
        return harmless(f"{changed}.")
    values = found.priorities.values()
    span = f", {max(values):,} to {min(values):,}" if values else ""
    return harmless(f"priorities for {len(values):,} {'job' if len(values) == 1 else 'jobs'}{span}: {changed}.")
