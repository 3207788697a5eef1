"""`headway reproduce NAME`: a paper's evaluation, done again."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from headway.cli.display.answer import print_json
from headway.model.errors import UsageError
from headway.model.record import replace

_DATA = Path(__file__).parents[5] / "shared" / "data"  # beside a checkout
_CHECKERS = Path(__file__).parents[4] / "examples" / "checkers"  # in a checkout
_KINDS = {"prio": "wf", "opportunistic": "wf", "batchqueue": "swf", "trellisdag": "wf", "peercomp": "wf"}

_SAID = {True: "holds", False: "does not hold", None: "is open"}


@click.command("reproduce", short_help="A paper's evaluation, done again.")
@click.argument(
    "name",
    metavar="NAME",
    type=click.Choice(["prio", "opportunistic", "batchqueue", "trellisdag", "peercomp"]),
)
@click.option(
    "--quick",
    "quick",
    is_flag=True,
    help="prio: ten minutes on two cores; batchqueue, trellisdag: three; peercomp: six; opportunistic: one."
    " The default.",
)
@click.option(
    "--full",
    "full",
    is_flag=True,
    help="prio: all readings of the dags, about an hour; batchqueue up to twelve; interrupted, they go on."
    " trellisdag: a quarter of an hour and more; peercomp: half an hour.",
)
@click.option(
    "--live",
    "live",
    is_flag=True,
    help="prio, some minutes: real placeholders that come in batches, beside the simulator.",
)
@click.option(
    "--beyond",
    "beyond",
    is_flag=True,
    help="batchqueue, 45 minutes on two cores: other estimates, wrong run times, guests, and what it does to others,"
    " under all policies on a fifth of the dags.",
)
@click.option("-o", "--output", metavar="DIR", type=click.Path(file_okay=False), help="Without it, reproduced/NAME.")
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="For prio a folder with wfinstances/ and dax/: real dags; for batchqueue one with logs (.swf.xz).",
)
@click.option("--starts", type=click.IntRange(2, 1000), help="batchqueue: moments of submission, instead of 3 or 100.")
@click.option(
    "--on",
    metavar="WHERE",
    multiple=True,
    help="trellisdag: where the placeholders are: local, scripts (placeholder.sh), slurm-scripts or gridengine-scripts"
    " (one job each, submitted again), or a site of headway.toml with 20 slots, or several ('lab-*'). Again for more"
    " places. Default: local.",
)
@click.option("--store", metavar="URL", help="trellisdag: postgresql://HOST/DATABASE, instead of a file.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json (docs/json.md says what each key means).")
def command(
    name: str,
    quick: bool,
    full: bool,
    live: bool,
    beyond: bool,
    output: str | None,
    data: str | None,
    starts: int | None,
    on: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    """Do a paper's evaluation again: figures, tables and claims, with columns paper, here, holds?

    Writes report.md, report.json and the figures as SVG into DIR. What each setting of prio measured is kept in
    DIR/settings.jsonl and not measured again, by --full either; trials of batchqueue are in DIR/trials, runs of
    peercomp in DIR/runs.jsonl, those of trellisdag there until its report is done. With --live
    they are live.md and live.json, from real processes.

    \b
      headway reproduce opportunistic
      headway reproduce peercomp
      headway reproduce prio
      headway reproduce prio --live
      headway reproduce prio --full -o full
      headway reproduce batchqueue --full --starts 20
      headway reproduce trellisdag
    """
    from headway.cli.display.bar import Bar

    if quick + full + live + beyond > 1:
        raise UsageError("--quick, --full, --live and --beyond exclude each other.", "Give one of them.")
    how = "full" if full else "live" if live else "beyond" if beyond else "quick"
    folder = Path(output) if output else Path("reproduced") / name
    beside = _DATA / _KINDS[name]
    found = Path(data) if data else beside if beside.is_dir() else None
    if how == "live" and name != "prio":
        raise UsageError(f"{name} has no --live.", "Leave --live out.")
    if how == "beyond" and name != "batchqueue":
        raise UsageError(f"{name} has no --beyond.", "Leave --beyond out.")
    if name != "batchqueue" and starts is not None:
        raise UsageError("--starts is for batchqueue.", "Leave it out.")
    if name != "trellisdag" and (on or store is not None):
        raise UsageError("--on and --store are for trellisdag.", "Leave them out.")
    if name == "trellisdag":
        _check_places(on, store)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # its placeholders end with it
    with Bar(1.0, quiet=as_json) as bar:
        if name == "opportunistic":
            from headway.experiments.opportunistic import all as opportunistic

            report = opportunistic.reproduce(opportunistic.PLANS[how], folder, found, bar.expect, bar.add)
        elif how == "live":
            from headway.experiments.prio import live as placeholders

            report = placeholders.reproduce(placeholders.Trial(), folder, bar.expect, bar.add)
        elif name == "trellisdag":
            from headway.experiments.trellisdag import all as trellisdag

            scale = replace(trellisdag.PLANS[how], on=tuple(dict.fromkeys(on)) or ("local",), server=store)
            if how == "full" and _CHECKERS.is_dir():
                scale = replace(scale, checkers=_CHECKERS)
            report = trellisdag.reproduce(scale, folder, bar.expect, bar.add)
        elif name == "batchqueue":
            from headway.experiments.batchqueue.all import reproduce as queues
            from headway.experiments.batchqueue.plans import PLANS as SIZES

            plan = SIZES[how] if starts is None else replace(SIZES[how], starts=starts)
            report = queues(plan, folder, found, bar.expect, bar.add)
        elif name == "peercomp":
            from headway.experiments.peercomp import all as peercomp

            report = peercomp.reproduce(peercomp.PLANS[how], folder, found, bar.expect, bar.add)
        else:
            from headway.experiments.prio.all import PLANS, reproduce

            report = reproduce(PLANS[how], folder, found, bar.expect, bar.add)
    if as_json:
        print_json(report.answer())
        return
    for claim in report.claims:
        click.echo(f"{_SAID[claim.holds]:<14}  {claim.id}: {claim.paper}")
    click.echo(f"{folder / ('live.md' if how == 'live' else 'report.md')} has the rest.")


def _check_places(on: tuple[str, ...], store: str | None) -> None:
    """Refuses a place that is not there before anything begins."""
    from headway.experiments.trellisdag.crews import place
    from headway.live.store import is_server

    for name in on:
        place(name)
    if store is not None and not is_server(store):
        raise UsageError("--store is for a server here.", "Say --store postgresql://HOST/DATABASE, or leave it out.")
