"""`headway attach` and `headway cancel`: a run that goes on without a terminal."""

from __future__ import annotations

import sys

import click

from headway.cli.display.answer import print_json
from headway.cli.options import run_options


@click.command("attach", short_help="Watch a workflow that is being run, here or in the background.")
@run_options
def attach(store: str | None, workflow: str | None) -> int:
    """Watch a workflow that is being run until it ends. Ctrl-C leaves it running.

    \b
      headway run W --detach
      headway attach
    """
    from contextlib import ExitStack

    from headway.cli.display.progress import Display
    from headway.live.client.attach import Attached, chosen_run, followed, handed_in
    from headway.live.client.following import Following
    from headway.live.runs.expected_times import measured
    from headway.model.states import State

    with ExitStack() as stack:
        submitted = handed_in(store, workflow)
        if submitted is not None:
            database, run = submitted
            reports = followed(database, run)
        else:
            home, database, run = chosen_run(store, workflow)
            reports = stack.enter_context(Attached(home, database, run)).progress()
        following = Following(database, run)
        display = Display(following.look().total(), 0)
        display.say(f"watching workflow {run}; Ctrl-C leaves it running.")
        for progress in reports:
            display.follow(progress, following.look()[State.DONE])
    counts = database.progress.counts(run)
    jobs, done, failed = sum(counts.values()), counts.get(State.DONE, 0), counts.get(State.FAILED, 0)
    display.say(f"{done:,} of {jobs:,} jobs done, {failed:,} failed.")
    dag = measured(database.history.web(run), database.history.attempts(run))
    display.say(f"At best {dag.minimal_schedule.makespan:.2f} s for the longest path; {dag.work:.2f} s of work in all.")
    return 0 if done == jobs else 3


@click.command("cancel", short_help="Stop a workflow that is being run.")
@run_options
@click.option("--gently", is_flag=True, help="Let running jobs end, and start nothing new.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def cancel(store: str | None, workflow: str | None, gently: bool, as_json: bool) -> int:
    """Stop a workflow that is being run: its jobs are ended, and run again when it is run again.

    \b
      headway cancel
      headway cancel --gently
    """
    from headway.live.answers.steering import cancelled
    from headway.live.client.attach import Attached, called_off, check_running, chosen_run, handed_in

    submitted = handed_in(store, workflow)
    if submitted is not None:
        if gently:
            print("nothing new is started; waiting for what runs.", file=sys.stderr, flush=True)
        called_off(store, submitted[1], gently)
        if as_json:
            print_json(cancelled(submitted[1]))
        else:
            print(f"workflow {submitted[1]} is stopped; headway submit goes on with it.", file=sys.stderr)
        return 0
    home, database, run = chosen_run(store, workflow)
    with Attached(home, database, run) as attached:
        check_running(home, database, run)
        attached.cancel(at_once=not gently)
        if gently:
            print("nothing new is started; waiting for what runs.", file=sys.stderr, flush=True)
        for _ in attached.progress():
            pass
    if as_json:
        print_json(cancelled(run))
    else:
        print(f"workflow {run} is stopped; headway run goes on with it.", file=sys.stderr)
    return 0
