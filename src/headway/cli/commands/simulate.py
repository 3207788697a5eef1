"""`headway simulate …`: what would happen, before anything does."""

from __future__ import annotations

import click

from headway.cli.commands.simulate_grid import grid
from headway.cli.commands.simulate_peers import peers
from headway.cli.commands.simulate_queue import queue
from headway.cli.commands.simulate_sites import sites


@click.group("simulate", short_help="What would happen, before anything does.")
def command() -> None:
    """Simulate a workflow in a made-up world, with the policies that a real run uses.

    \b
      headway simulate grid W --order critical-path,fifo
      headway simulate queue W --log CTC-SP2.swf.xz --method hybrid,giant,individual
      headway simulate sites W --where opportunistic,round-robin
      headway simulate peers --nodes 100 --priority 1.3
    """


command.add_command(grid)
command.add_command(peers)
command.add_command(queue)
command.add_command(sites)
