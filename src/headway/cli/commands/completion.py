"""`headway completion SHELL`: a script for the shell to source."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion", short_help="A completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script for a shell.

    \b
      bash   headway completion bash > ~/.local/share/bash-completion/completions/headway
      zsh    headway completion zsh > "${fpath[1]}/_headway"
      fish   headway completion fish > ~/.config/fish/completions/headway.fish
    """
    from headway.cli import headway

    found = get_completion_class(shell)
    assert found is not None
    # Not `.source()` on an instance made by click itself: bash's asks bash for its version, which may not be there.
    click.echo(found.source_template % found(headway, {}, "headway", "_HEADWAY_COMPLETE").source_vars())
