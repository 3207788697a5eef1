"""What `headway run` does once it is known what is wanted. A short run waits for each import: here is no click."""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path

from headway.cli.fast_path import Options, without
from headway.model.errors import HeadwayError, UsageError, unquoted
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from headway.live.client.line import Line
    from headway.live.client.lines import Lines
    from headway.live.home.folder import Home
    from headway.live.runs.selection import Choice
    from headway.live.runs.session import Outcome, Session
    from headway.model.workflow import Workflow

LATE = 5  # the exit code of a run that has done all, but after its deadline
MOST_WARNINGS = 10  # that are worth a line each before a run
QUICK = 0.5  # seconds in which a workflow is read that is submitted in a few more


def run(options: Options) -> int:
    """Runs a workflow to its end; the exit code."""
    if options.place is None:
        return _run(options)
    try:
        return _run(replace(options, sites=()))  # where its job runs, whatever headway.toml says
    except HeadwayError as error:
        error.exit_code = 1  # which is what the node of a sub-DAG sees that cannot be read, as in DAGMan
        raise


def _run(options: Options) -> int:
    if options.array is not None:  # W and its arguments are a command for each line of a file
        words = (options.workflow, *options.arguments)
        options = replace(options, workflow=options.array, arguments=words, store=options.store or ".headway")
    if options.workflow != "-" and not os.access(options.workflow, os.R_OK):
        from headway.live.reading.read import read

        read(options.workflow, format=options.format_name)  # says what is wrong, before a folder is made for nothing
    deadline = None
    if options.deadline is not None:
        from headway.live.runs.deadline import ORDER, Deadline

        deadline = Deadline(options.deadline)
        if options.order_name == without("order_name"):
            options = replace(options, order_name=ORDER)
    memory, named = size(options.memory), named_resources(options.resources)
    if options.sites:
        from headway.live.sites.named import most_nodes

        named = {**named, **most_nodes(options.sites)}
    folder, server = place_of_run(options.store, options.workflow)
    if options.dry_run:
        from headway.cli.commands.dry_run import dry_run
        from headway.live.store import FILE

        base = server if server is not None else folder / FILE
        return dry_run(chosen(meant(options), options), base, options.fresh, options.edited, options.as_json)
    if options.detach:
        from headway.cli.commands.detach import detached

        code = detached()
        if code is not None:
            return code
    from headway.live.home.folder import Home
    from headway.live.store import import_for_runner, opened

    home = Home(folder)
    base = server if server is not None else home.database
    if server is not None:
        leave_at_once_on_ctrl_c()
    is_new = server is None and options.place is None and not home.database.exists()
    import_for_runner(base)
    runner, slots = started(options, home, server)
    # The runner is on its way, and imports the rest of what it needs while this process does the same.
    from headway.live.reading.read import no_collection
    from headway.live.runs.session import INSIDE, Session, Wish
    from headway.live.runs.submit import submission_of

    if options.place is not None:
        options = of_the_whole(options, os.environ.get(INSIDE, ""))
    with no_collection():
        reading = time.time()
        found = meant(options)
        early, begun = None, time.time()
        # A store that is being made knows no earlier run, so what is submitted does not depend on it; but rescue files
        # of DAGMan have a say. For a large workflow the runner would wait in vain, and go.
        if is_new and found.format != "dagman" and begun - reading < QUICK:
            early = submission_of(found, options.arguments, options.order_name)
        line = runner()
        session = Session(
            *(home, opened(base, options.sync), line, found, options.arguments),
            Wish(
                *(slots, options.order_name, options.fail_fast, options.retry, options.fresh, options.edited),
                *(memory, named, exported(options.exports), options.place, for_inside(options)),
            ),
            *(lambda read: chosen(read, options), say, early, begun),
        )
    if options.sites:
        from headway.live.sites.named import named_sites

        session.check_sites(named_sites(options.sites))
        apart = [site for site in named_sites(options.sites) if site.directory]
        if apart:
            session.declare(apart)
        if any(site.queue for site in named_sites(options.sites)):
            session.expect(options.sites)
    if deadline is not None:
        if options.sites:
            deadline.queues = [site.name for site in named_sites(options.sites) if site.queue]
        session.meet(deadline)
    gc.freeze()  # what is there stays
    gc.enable()
    if options.share is not None:
        home.share(options.share)
    outcome = watch(session, slots, options, home)
    place = str(home.folder) if server is None else server
    if options.as_json:
        from headway.cli.display.answer import print_json
        from headway.live.answers.run import answer

        print_json(answer(outcome, place, session.warnings, session.deadline))
    if options.notify is not None or options.mail is not None:
        from headway.live.runs.hooks import End, notified

        counts = (outcome.tally.done, outcome.tally.failed, outcome.tally.skipped)
        end = End(found.name, *counts, outcome.seconds, outcome.exit_code, place)
        for problem in notified(end, options.notify, options.mail):
            print(f"warning: {problem}", file=sys.stderr)
    if deadline is not None and not outcome.exit_code and not deadline.is_met:
        return LATE
    return outcome.exit_code


def started(options: Options, home: Home, server: str | None) -> tuple[Callable[[], Line | Lines], int]:
    """Starts what runs the jobs, the runner here or channels to sites: what waits for it, and how many slots it has."""
    if options.sites:
        from headway.live.sites.named import named_sites
        from headway.live.sites.opening import Opening, slots_of

        sites = named_sites(options.sites)
        return Opening(home, server, options.sync, sites).lines, options.slots or slots_of(sites)
    from headway.live.client.starter import Starter

    starter = Starter(home, options.sync, server)

    def waited() -> Line:
        from headway.live.client.watch import watched

        return watched(home, starter)

    return waited, options.slots or len(os.sched_getaffinity(0))


def exported(names: tuple[str, ...]) -> dict[str, str]:
    """The variables that are to be known on every host, by --export."""
    for name in names:
        if name not in os.environ:
            way = "Say its name alone." if "=" in name else f"Set it: export {unquoted(name)}=…"
            raise UsageError(f"--export {unquoted(name)}: there is no such variable.", way)
    return {name: os.environ[name] for name in names}


def leave_at_once_on_ctrl_c() -> None:
    """A store that does not answer must hold nobody: what it has not committed is as if it had not been asked."""
    import signal

    def leave(number: int, frame: object) -> None:
        os.write(2, b"\nheadway: interrupted.\n")
        os._exit(130)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)


def say(text: str) -> None:
    """A line for the user, before there is a display."""
    print(text, file=sys.stderr, flush=True)


def watch(session: Session, slots: int, options: Options, home: Home) -> Outcome:
    """Has it run, and shows how far it is until it ends, and how it ended."""
    from headway.live.client.watch import Stops

    stops = Stops()
    session.start()
    from headway.cli.display.progress import Display  # while the first jobs run

    display = Display(session.total, session.before.done, session.before.left_out, quiet=options.as_json)
    for warning in session.warnings[:MOST_WARNINGS]:
        display.say(f"warning: {warning}")
    if len(session.warnings) > MOST_WARNINGS:
        display.say(f"and {len(session.warnings) - MOST_WARNINGS:,} more warnings; --json tells them all.")
    for sentence in session.foreseen:
        display.say(sentence)
    if session.rescue is not None:
        display.say(f"going on from {session.rescue.name}.")
    if options.detach:
        from headway.cli.commands.detach import begun

        begun(home, session.number)
    for progress in session.reports(stops, display.say):
        display.show(progress)
    leave_at_once_on_ctrl_c()
    outcome = session.ended(display.say)
    display.end(outcome, slots, retrying(options))
    if session.deadline is not None and not options.as_json:
        display.say(session.deadline.verdict)
    return outcome


def retrying(options: Options) -> str:
    """The command that retries what failed, as far as it is short."""
    if options.array is not None or options.arguments or options.store is not None:
        return "the same command with --retry"
    from shlex import quote

    return f"headway run {quote(options.workflow)} --retry"


def meant(options: Options) -> Workflow:
    """The workflow of a file; with --array, the arguments as a command for each of its lines."""
    if options.array is not None:
        from headway.live.reading.lines import array

        return array(options.workflow, options.arguments)
    from headway.live.reading.read import read

    return read(options.workflow, *options.arguments, format=options.format_name)


def chosen(workflow: Workflow, options: Options) -> Choice:
    """Which jobs it is about."""
    from headway.live.runs.selection import Choice

    defaults, given = None, (options.retries, options.backoff, options.more_memory)
    if given != (None, None, None):
        from headway.live.store.defaults import Defaults

        defaults = Defaults(*given)
    return Choice(
        *(workflow, options.arguments, options.until, options.since),
        *(options.retry, options.always_make, defaults),
    )


# What holds for a run as a whole, the workflows that run in place of its jobs included.
_OF_THE_WHOLE = ("fail_fast", "retries", "backoff", "more_memory")


def for_inside(options: Options) -> str:
    """What sub-DAGs are to know of these options, as `of_the_whole` reads it."""
    given = {name: getattr(options, name) for name in _OF_THE_WHOLE}
    said = {name: value for name, value in given.items() if value is not None and value is not False}
    if not said:
        return ""
    from json import dumps

    return dumps(said)


def of_the_whole(options: Options, text: str) -> Options:
    """The options of a sub-DAG, with those of the run that it is part of."""
    from json import loads

    return replace(options, **loads(text)) if text else options


def place_of_run(store: str | None, workflow: str) -> tuple[Path, str | None]:
    """The folder of the run, and its server if it has one; nothing heavy may be imported for that."""
    beside = Path(workflow).absolute().parent / ".headway"
    if not store:
        return beside, None
    from headway.live.store import is_server

    if is_server(store):
        from headway.live.home.store_location import server_folder

        ours = os.environ.get("HEADWAY_HOME") if store == os.environ.get("HEADWAY_STORE") else None
        return Path(ours) if ours else server_folder(beside, store), store
    return Path(store.removeprefix("sqlite:///")), None


def named_resources(words: tuple[str, ...]) -> dict[str, int]:
    """NAME=N of each; graphics cards are counted where nothing is said of them."""
    found: dict[str, int] = {}
    for word in words:
        name, equals, count = word.partition("=")
        if not (equals and name and count.isdecimal() and len(count) < 10):
            raise UsageError(f"--resource {unquoted(word)} is not NAME=N.", "Say gpu=2, for example.")
        if name == "nodes":
            raise UsageError("--resource nodes: a host is one node.", "Allocations of several are what Slurm grants.")
        found[name] = int(count)
    cards = Path("/proc/driver/nvidia/gpus")
    if cards.is_dir():
        there = sum(1 for _ in cards.iterdir())
        found.setdefault("gpus", there)
        found.setdefault("gpu", there)
    return found


def size(text: str | None) -> int:
    """Bytes; 0 where nothing is said."""
    if text is None:
        return 0
    from headway.model.quantities import size as bytes_of

    try:
        return bytes_of(text)
    except ValueError as error:
        raise UsageError(f"--memory {unquoted(text)} is not {error}.") from None
