"""The `headway` command: its subcommands, and how every command ends."""

from __future__ import annotations

from importlib import import_module
from typing import NoReturn

import click

from headway import __version__
from headway.cli.exits import end_with

# Name: module in headway.cli.commands (and which of its commands), and help line.
# Help is here so that `headway --help` imports no command.
COMMANDS = {
    "show": ("show", "What a workflow looks like: jobs, arcs, levels, critical path."),
    "run": ("run", "Run a workflow to its end, here or at sites of headway.toml."),
    "submit": ("submit", "Put a workflow into a store, for placeholders to run."),
    "placeholder": ("placeholder", "Take jobs from a store until it is stopped."),
    "serve": ("serve", "Let placeholders on other hosts take jobs from a store."),
    "attach": ("attach:attach", "Watch a workflow that is being run."),
    "cancel": ("attach:cancel", "Stop a workflow that is being run."),
    "runs": ("runs", "The workflows of a store, and how far they are."),
    "history": ("history", "Every attempt at a workflow's jobs; a Gantt chart with --gantt."),
    "logs": ("logs", "What jobs have printed; as it comes with -f."),
    "clean": ("clean", "Remove finished workflows and their logs from a store."),
    "status": ("status", "How far it is: groups, counts, running jobs."),
    "browse": ("browse", "Look through the groups of a workflow, and change how they stand."),
    "explain": ("explain", "Why a job is not running."),
    "enable": ("steer:enable", "Let groups be started again."),
    "disable": ("steer:disable", "Start nothing of some groups."),
    "stop": ("steer:stop", "Disable groups, and end what runs of them."),
    "done": ("steer:done", "Call groups done without running them."),
    "redo": ("steer:redo", "Run groups again, and everything that depends on them."),
    "order": (
        "order",
        "What runs next: the order of the jobs, and how many are eligible at every step.",
    ),
    "prio": ("prio", "Write priorities into a DAGMan file, for HTCondor."),
    "convert": ("convert", "Write a workflow in another format."),
    "simulate": ("simulate", "What would happen, before anything does."),
    "reproduce": ("reproduce", "A paper's evaluation, done again."),
    "sites": ("sites", "The sites of headway.toml; with --check, whether jobs run there."),
    "config": ("config", "The settings that hold, and where each is from."),
    "formats": ("formats", "The formats Headway reads and writes."),
    "completion": ("completion", "A completion script for bash, zsh or fish."),
}


class _Lazy(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"headway.cli.commands.{module}"), name or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, 1)
            hint = f"Did you mean {close[0]}?" if close else "headway --help lists the commands."
            raise click.UsageError(f"there is no command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would call that a success
            return 141

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headway")
def headway() -> None:
    """Run a workflow, jobs that depend on each other, to its end as fast as its dependencies allow: on this computer,
    on hosts behind ssh and in batch queues.

    A workflow W is the file you already have: a DAGMan file, a submit file, a Makefile, a script of mqsub lines, a DAG
    description script, a Python script, WfFormat or DAX. Its format is found out from its name and content.

    \b
      headway show W                      what it looks like
      headway run W                       run it to its end; run again, it goes on where it stopped
      headway run W --site local --site lab   here, and on a host behind ssh or in a batch queue
      headway run W --dry-run             what would run, and why
      headway run W --detach              in the background; attach watches it, cancel stops it
      headway status                      groups, counts, running jobs; attach watches them
      headway explain JOB                 why a job does not run
      headway logs JOB                    what a job prints; -f goes on until it is done
      headway history --gantt run.svg     every attempt, beside the minimal schedule
      headway order W --compare fifo      what runs next, and how many jobs are eligible at every step
      headway convert W --to makefile     the same in another format
    """


def main(words: list[str] | None = None) -> NoReturn:
    """The `headway` command: exits 0 done, 1 failed inside, 2 bad usage or input, 3 jobs failed, 4 no such thing."""
    end_with(lambda: called(headway, words, "headway"))


def called(command: click.Command, words: list[str] | None, name: str) -> object:
    """What a command of click's answers; what is wrong with the words, click tells itself."""
    try:
        return command.main(words, prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
