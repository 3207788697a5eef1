"""How TrellisDAG's own commands begin: they are called often, so nothing heavy is imported for that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from headway.cli.ending import end_with


def serve(name: str, help: str, words: Sequence[str] | None, service: Callable[[list[str]], object]) -> NoReturn:
    """Carries a service out, or tells what it is for, and exits as it ended."""
    given = sys.argv[1:] if words is None else list(words)
    if given in (["-h"], ["-help"], ["--help"]):
        end_with(lambda: print(help, end=""), name)
    end_with(lambda: service(given), name)
