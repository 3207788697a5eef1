"""`headway submit W`: puts a workflow into a store, for placeholders to run."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from headway.cli.commands.run import option_of
from headway.cli.configured import Configured
from headway.cli.fast_path import EDITED, VARIABLES, Options, without, words
from headway.cli.options import order_option, workflow_arguments


@click.command("submit", cls=Configured, short_help="Put a workflow into a store, for placeholders to run.")
@workflow_arguments
@option_of(
    "store",
    metavar="PLACE",
    help="Where the store is: a folder or postgresql://HOST/DATABASE; without it, .headway beside W.",
)
@option_of("sites", metavar="NAME", help="Only placeholders at this site may run it, for each --site given.")
@order_option(
    *words("order_name"), envvar=VARIABLES["order_name"], default=without("order_name"), help="What runs next."
)
@option_of("retry", help="Retry the jobs that failed earlier.")
@option_of("fresh", help="Start from the beginning.")
@option_of(
    "edited",
    type=click.Choice(EDITED),
    help="If the file has changed since: refuse it (exit code 2), rerun what has changed and what follows, or keep all"
    " that is done.",
)
@option_of("exports", metavar="NAME", help="A variable of your environment that jobs get wherever they run.")
@option_of("until", metavar="JOB", help="Only this job or group and what it needs.")
@option_of("retries", type=click.IntRange(min=0), metavar="N", help="Default number of retries for jobs that set none.")
@option_of("as_json", help="Answer in JSON (docs/json.md).")
def command(**given: Any) -> None:
    """Put a workflow into a store. Placeholders that serve the store run it; nobody has to wait for it here.

    Its number is printed; headway status, logs, explain and cancel take it. Submitted again, it goes on where it
    stopped.

    \b
      headway submit diamond.dag --store postgresql://db/lab
      headway placeholder --store postgresql://db/lab      on each host that shall work
    """
    from headway.cli.commands.running import MOST_WARNINGS, chosen, exported, meant, place_of_run
    from headway.cli.display.answer import print_json
    from headway.live.answers.submit import answer
    from headway.live.home.folder import Home
    from headway.live.runs.handing_in import EVERYWHERE, handed_in
    from headway.live.runs.session import Wish
    from headway.live.sites.named import check_sites
    from headway.live.sites.opening import prepare
    from headway.live.store import opened

    options = Options(**given)
    if options.sites:
        check_sites(options.sites)
    workflow = meant(options)
    folder, server = place_of_run(options.store, options.workflow)
    home = Home(folder)
    if server is None:
        prepare(home)
    store = opened(home.database if server is None else server)
    wish = Wish(
        *(1, options.order_name, False, options.retry, options.fresh, options.edited, 0, None),
        exported(options.exports),
    )
    found = handed_in(
        *(home, store, workflow, options.arguments, wish, lambda read: chosen(read, options)),
        options.sites or EVERYWHERE,
    )
    for warning in found.warnings[:MOST_WARNINGS]:
        print(f"warning: {warning}", file=sys.stderr)
    if options.as_json:
        print_json(answer(found, server or str(home.folder)))
        return
    before = f", {found.done:,} of them done already" if found.done else ""
    print(f"workflow {found.workflow}: {found.jobs:,} job{'s' * (found.jobs != 1)}{before}.", file=sys.stderr)
    where = f" --store {server or os.path.relpath(home.folder)}"
    print(f"Placeholders run it: headway placeholder{where}", file=sys.stderr)
    print(found.workflow)
