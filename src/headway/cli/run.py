"""`headway run W`: a workflow to its end, here."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from headway.cli.choosing import choosing_options, chosen, dry_run, meant, tell_the_end
from headway.cli.options import order_option, print_json, workflow_arguments


@click.command("run", short_help="Run a workflow to its end, here.")
@workflow_arguments
@click.option("--slots", type=click.IntRange(min=1), help="How many cores to use; without it, all there are.")
@order_option(
    "--order",
    envvar="HEADWAY_ORDER",
    default="auto",
    help="What runs next; headway order shows it. auto: what suits best.",
)
@click.option("--store", metavar="FOLDER", type=click.Path(), help="Where the store is; without it, .headway beside W.")
@click.option("--fail-fast", is_flag=True, help="Start nothing new after the first failure.")
@click.option("--retry", is_flag=True, help="Try jobs again that failed in an earlier run.")
@click.option("--fresh", is_flag=True, help="Start from the beginning, whatever an earlier run has done.")
@click.option("--sync", type=click.Choice(["normal", "full"]), default="normal", help="full: survive power loss too.")
@click.option("--json", "as_json", is_flag=True, help="Report in JSON at the end.")
@choosing_options
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
    **wishes: Any,
) -> int:
    """Run a workflow to its end on this computer.

    Run again, it goes on where it stopped: done jobs stay done. Ctrl-C (or SIGTERM) lets running jobs end and stops;
    twice ends them too; a third time leaves at once. If this command dies, the jobs that run are finished and recorded
    all the same.

    \b
      headway run diamond.dag
      headway run Makefile --slots 4
      headway run --array photos.txt -- convert {} -resize 50% small/{/}
    """
    if wishes["array"] is not None:  # W and its arguments are a command for each line of a file
        workflow, arguments, store = wishes["array"], (workflow, *arguments), store or ".headway"
    if workflow != "-" and not os.access(workflow, os.R_OK):
        from headway.live.read import read

        read(workflow, format=format_name)  # says what is wrong, before a folder is made for nothing
    folder = Path(store) if store else Path(workflow).absolute().parent / ".headway"
    if wishes["dry_run"]:
        found = meant(workflow, arguments, format_name, wishes)
        return dry_run(chosen(found, arguments, wishes, retry), folder, fresh, as_json)
    from headway.live.failpoint import here
    from headway.live.home import Home

    home = Home(folder)
    slots = slots or len(os.sched_getaffinity(0))
    from headway.live.starter import Starter

    starter = Starter(home, sync)
    # The runner is on its way, and imports what it needs at the same time as this process does.
    from headway.cli.progress import Display
    from headway.live.choice import tally
    from headway.live.read import no_collection
    from headway.live.rescue import rescue_of, rescued, write_rescue
    from headway.live.run import Stops, bounds, failed_jobs, source_of, submitted, watched
    from headway.live.store.sqlite import SqliteStore

    begun = time.time()
    with no_collection():
        found = meant(workflow, arguments, format_name, wishes)
        line = watched(home, starter)
        jobs = SqliteStore(home.database, sync)
        rescue = None if fresh or jobs.latest(source_of(found, arguments)) else rescue_of(found)
        found = found if rescue is None else rescued(found, rescue)
        choice = chosen(found, arguments, wishes, retry)
        number, flat = submitted(home, jobs, found, arguments, order_name, fresh, begun, choice.settler(jobs))
    if rescue is not None:
        print(f"going on from {rescue.name}.", file=sys.stderr)
    if retry:
        jobs.retry_failed(number)
    jobs.resume(number)
    before = tally(jobs, number)
    total = sum(jobs.counts(number).values()) - before.left_out
    display = Display(total, before.done, quiet=as_json)
    if before.left_out and not as_json:
        display.say(f"{before.left_out:,} jobs are left out.")
    stops = Stops()
    here("hello.before")
    line.say(
        {
            "workflow": number,
            "slots": slots,
            "environment": dict(os.environ),
            "mark": os.environ.get("HEADWAY_LEASE", ""),
            "fail_fast": fail_fast,
        }
    )
    here("hello.after")
    for progress in line.reports(stops, tell=True):
        display.show(progress)
    ended = tally(jobs, number)
    done, failed, skipped = ended.done, ended.failed, ended.skipped
    failures = failed_jobs(home, jobs, number) if failed else []
    display.tell_the_rest(failures)
    if found.format == "dagman" and done < total and (path := write_rescue(found, jobs, number)):
        display.say(f"what is done of it is in {path.name}, for DAGMan to go on from.")
    seconds = time.time() - begun
    limits = bounds(jobs, number, flat, slots)
    if as_json:
        print_json(
            {
                "done": done,
                "failed": failed,
                "skipped": skipped,
                "left_out": ended.left_out,
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
    returned = jobs.returned(number)
    if returned is None:  # or else what the workflow itself says (ABORT-DAG-ON … RETURN)
        returned = 0 if not failed and not skipped else 3
    tell_the_end(wishes, found.name, done, failed, skipped, seconds, returned, str(home.folder))
    return returned
