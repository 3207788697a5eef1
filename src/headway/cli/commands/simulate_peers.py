"""`headway simulate peers`: workflows with deadlines on a peer-to-peer grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from headway.cli.display.answer import print_json
from headway.model.errors import UsageError, shown


@click.command("peers", short_help="Workflows with deadlines on a peer-to-peer grid.")
@click.option("--nodes", type=int, default=300, show_default=True, help="Peers of the grid.")
@click.option(
    "--model",
    type=click.Choice(["fork-join", "laplace"]),
    default="fork-join",
    show_default=True,
    help="What the workflows look like.",
)
@click.option("--size", type=click.IntRange(1, 1000), help="Branches, or rows of the grid. [8 and 3, as in the paper]")
@click.option(
    "--priority",
    type=float,
    default=1.3,
    show_default=True,
    help="Time that its owner alone would take over the time until the deadline.",
)
@click.option("--hours", type=float, default=0.5, show_default=True, help="How long workflows arrive, simulated.")
@click.option("--load", type=float, default=0.93, show_default=True, help="Work that arrives, as a share of all power.")
@click.option("--update-period", metavar="TIME", default="1s", show_default=True, help="Least time between summaries.")
@click.option(
    "--refresh", metavar="TIME", default="1m", show_default=True, help="How often neighbours greet each other."
)
@click.option("--fan-out", type=click.IntRange(2, 16), default=4, show_default=True, help="Children of a branch.")
@click.option(
    "--fit",
    type=click.Choice(["best", "earliest", "worst"]),
    default="best",
    show_default=True,
    help="Which hole is taken: the smallest, the one that ends first, the largest.",
)
@click.option(
    "--placer",
    type=click.Choice(["tree", "oracle", "random"]),
    default="tree",
    show_default=True,
    help="Who finds room: the peers, one that knows all queues at no cost, or three tries at random.",
)
@click.option("--churn", type=float, default=0.0, show_default=True, help="Share of the peers that go in an hour.")
@click.option("--leaving", type=float, default=0.0, show_default=True, help="Share of those that say so; others die.")
@click.option(
    "--returning",
    type=float,
    default=0.0,
    show_default=True,
    help="Share of those that come back within three minutes, with what they wrote down; others are replaced.",
)
@click.option(
    "--simulator",
    type=click.Choice(["auto", "messages", "kernel"]),
    default="auto",
    show_default=True,
    help="messages: the code of real peers, up to 50,000 of them; kernel: compiled, up to a million and more, without"
    " churn. auto: the kernel from 2,000 peers on.",
)
@click.option("--least-power", type=int, default=1000, show_default=True, help="Power of the slowest peers.")
@click.option("--most-power", type=int, default=3000, show_default=True, help="Power of the fastest peers.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other random numbers.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def peers(
    nodes: int,
    model: str,
    size: int | None,
    priority: float,
    hours: float,
    load: float,
    update_period: str,
    refresh: str,
    fan_out: int,
    fit: str,
    placer: str,
    churn: float,
    leaving: float,
    returning: float,
    simulator: str,
    least_power: int,
    most_power: int,
    seed: int,
    as_json: bool,
) -> None:
    """Let workflows with deadlines arrive at a grid of peers that have no server, and see what becomes of them.

    Peers are a tree that sums up what is free. A workflow is cut into sequences of jobs; each finds room by way of the
    tree, room is held and then committed to, and an accepted workflow is done by its deadline unless peers die. Every
    message is simulated: by the code that real peers run, or by a compiled kernel that decides exactly as that does.
    docs/peers.md describes it.

    \b
      headway simulate peers --nodes 100 --model fork-join --priority 1.3
      headway simulate peers --nodes 100 --model laplace --placer oracle
      headway simulate peers --nodes 200 --load 0.3 --churn 0.2 --leaving 0.5 --returning 0.5 --refresh 10s
      headway simulate peers --nodes 1000000 --model fork-join --size 8 --priority 1.3 --update-period 1s
    """
    from headway.cli.display.bar import Bar
    from headway.engine.peering.settings import Settings
    from headway.sim.peer_scenario import Scenario, by_kernel
    from headway.sim.peers import Simulation, answer

    settings = Settings(update=_milliseconds("--update-period", update_period), fit=fit)
    if refresh != "1m":
        beat = _milliseconds("--refresh", refresh)
        settings = Settings(update=settings.update, fit=fit, refresh=beat, status=min(settings.status, 2 * beat))
    scenario = Scenario(
        nodes=nodes,
        model=model,
        size=size or 0,
        priority=priority,
        hours=hours,
        load=load,
        fan_out=fan_out,
        least_power=least_power,
        most_power=most_power,
        churn=churn,
        leaving=leaving,
        returning=returning,
        placer=placer,
        seed=seed,
        settings=settings,
    )
    with Bar(hours * 3600 + 2 * 3600, quiet=as_json) as bar:
        if by_kernel(scenario, simulator):
            from headway.sim.peer_answer import simulated

            found = answer(scenario, simulated(scenario, bar.add), "kernel")
        else:
            found = answer(scenario, Simulation(scenario).run(bar.add))
    if as_json:
        print_json(found)
    else:
        click.echo(_text(found))


def _milliseconds(option: str, text: str) -> int:
    from headway.model.quantities import seconds

    try:
        value = round(seconds(text) * 1000)
    except ValueError as error:
        raise UsageError(f"{option} {shown(text)} is no time.", f"Expected {error}.") from None
    if not 0 < value < 10**9:
        raise UsageError(f"{option} {shown(text)} must be more than nothing and less than ten days.", "Try 1s.")
    return value


def _only_counted(it: Mapping[str, Any]) -> list[str]:
    """What the kernel leaves out of its events."""
    lines = []
    if counted := it.get("only_counted"):
        number = counted["greetings"] + counted["answers"] + counted["statuses"]
        lines.append(
            f"            with {number:,} greetings and statuses that are counted and not run; peaks leave them out"
        )
    if late := it.get("too_late"):
        lines.append(f"            {late:,} messages waited too long at a link: real peers would not believe them")
    return lines


def _of_failures(it: Mapping[str, Any]) -> list[str]:
    """What became of workflows while peers came and went."""
    tree = "not whole again" if it["whole_after"] is None else f"whole {it['whole_after']:.0f} s after the last of it"
    return [
        f"churn       {it['died']:,} peers died, {it['left']:,} left, {it['returned']:,} came back; the tree is {tree}",
        f"            {it['replanned']:,} workflows were planned again; of those accepted {it['met']:,} met their"
        f" deadlines, {it['not_possible']:,} could not any more, {it['late']:,} were late all the same",
    ]


def _text(it: Mapping[str, Any]) -> str:
    """What people are told."""
    times, events = it["allocation_seconds"], it["events_per_node_second"]
    lines = [
        f"{it['nodes']:,} peers, {it['model']} {it['size']}, priority {it['priority']:g}, {it['hours']:g} h of arrivals"
        f" at {100 * it['load']:.0f}% of all power, seed {it['seed']}",
        "",
        f"workflows   {it['submitted']:,} submitted, {it['accepted']:,} accepted, {it['rejected']:,} rejected,"
        f" {it['missed']:,} deadlines missed",
    ]
    if it["orphaned"]:
        lines.append(f"            the owners of {it['orphaned']:,} are gone")
    if found := it.get("failures"):
        lines += _of_failures(found)
    lines += [f"            {count:,} times: {reason}" for reason, count in it["reasons"].items()]
    if it["speedup"] is not None:
        lines.append(
            f"speed-up    {it['speedup']:.2f} over the owner alone; {100 * it['utilisation']:.0f}% of all power used"
        )
    if times["p50"] is not None:
        lines.append(
            f"allocation  {times['p50']:.2f} s in the middle, 90% {times['p90']:.2f} s, 99% {times['p99']:.2f} s,"
            f" at most {times['max']:.2f} s"
        )
    if it["hops"]["p50"] is not None:
        lines.append(f"            {it['hops']['p50']} hops of a request in the middle, at most {it['hops']['max']}")
    out, into = it["bytes_out"], it["bytes_in"]
    lines += [
        f"events      {events['mean']:.2f} a second at a peer, at most {events['max']}",
        *_only_counted(it),
        f"peak bytes  sent: 75% of the peers up to {out['p75']:,}/s, 99% {out['p99']:,}/s, at most {out['max']:,}/s",
        f"            received: 75% up to {into['p75']:,}/s, 99% {into['p99']:,}/s, at most {into['max']:,}/s",
        f"tree        {'whole' if it['whole'] else 'not whole'} at the end",
        "",
        f"{it['events']:,} events, {it['seconds']:.1f} s, {it['peak_rss'] / 1e6:,.0f} MB; simulator: {it['simulator']}",
    ]
    return "\n".join(lines)
