"""`headway run W`: a workflow to its end, here."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from headway.cli.options import order_option, print_json, workflow_arguments


@click.command("run", short_help="Run a workflow to its end, here.")
@workflow_arguments
@click.option("--slots", type=click.IntRange(min=1), help="How many cores to use; without it, all there are.")
@order_option("--order", default="auto", help="What runs next; headway order shows it. auto: what suits best.")
@click.option("--store", metavar="FOLDER", type=click.Path(), help="Where the store is; without it, .headway beside W.")
@click.option("--fail-fast", is_flag=True, help="Start nothing new after the first failure.")
@click.option("--retry", is_flag=True, help="Try jobs again that failed in an earlier run.")
@click.option("--fresh", is_flag=True, help="Start from the beginning, whatever an earlier run has done.")
@click.option("--sync", type=click.Choice(["normal", "full"]), default="normal", help="full: survive power loss too.")
@click.option("--json", "as_json", is_flag=True, help="Report in JSON at the end.")
def command(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    slots: int | None,
    order_name: str,
    store: str | None,
    fail_fast: bool,
    retry: bool,
    fresh: bool,
    sync: str,
    as_json: bool,
) -> int:
    """Run a workflow to its end on this computer.

    Run again, it goes on where it stopped: done jobs stay done. Ctrl-C (or SIGTERM) lets running jobs end and stops;
    twice ends them too; a third time leaves at once. If this command dies, the jobs that run are finished and recorded
    all the same.

    \b
      headway run diamond.dag
      headway run Makefile --slots 4
    """
    if workflow != "-" and not os.access(workflow, os.R_OK):
        from headway.live.read import read

        read(workflow, format=format_name)  # says what is wrong, before a folder is made for nothing
    from headway.live.failpoint import here
    from headway.live.home import Home

    home = Home(Path(store) if store else Path(workflow).absolute().parent / ".headway")
    slots = slots or len(os.sched_getaffinity(0))
    from headway.live.starter import Starter

    starter = Starter(home, sync)
    # The runner is on its way, and imports what it needs at the same time as this process does.
    from headway.cli.progress import Display
    from headway.live.read import no_collection, read
    from headway.live.run import Stops, Watch, bounds, submitted, tally
    from headway.live.store.sqlite import SqliteStore

    begun = time.time()
    with no_collection():
        found = read(workflow, *arguments, format=format_name)
        watch = Watch(home, starter)
        jobs = SqliteStore(home.database, sync)
        number, flat = submitted(home, jobs, found, arguments, order_name, fresh, begun)
    if retry:
        jobs.retry_failed(number)
    before, _, _ = tally(jobs, number)
    display = Display(flat.dag.job_count, before, quiet=as_json)
    stops = Stops()
    here("hello.before")
    watch.say(
        {
            "workflow": number,
            "slots": slots,
            "environment": dict(os.environ),
            "mark": os.environ.get("HEADWAY_LEASE", ""),
            "fail_fast": fail_fast,
        }
    )
    here("hello.after")
    failures = []
    for progress in watch.progress(stops):
        failures += [failure for failure in progress.failures if failure["final"]]
        display.show(progress)
    done, failed, skipped = tally(jobs, number)
    seconds = time.time() - begun
    limits = bounds(jobs, number, flat, slots)
    if as_json:
        print_json(
            {
                "done": done,
                "failed": failed,
                "skipped": skipped,
                "seconds": seconds,
                "minimal_seconds": limits.minimal,
                "work_seconds": limits.work,
                "attempts": limits.attempts,
                "store": str(home.folder),
                "failures": [{key: failure[key] for key in ("job", "exit_code", "log")} for failure in failures],
            }
        )
    else:
        display.end(done, failed, skipped, seconds, slots, limits)
    sys.stdout.flush()
    return 0 if not failed and not skipped else 3
