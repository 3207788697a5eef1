"""Rescue files: what of a DAG is done, for DAGMan or Headway to go on from."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST = 100  # rescue files of one DAG: DAGMan's own limit, above which it looks for none
_NUMBER = re.compile(r"\.rescue(\d{3})$")


def rescue_name(dag: str, number: int) -> str:
    return f"{dag}.rescue{number:03d}"


def rescue_number(dag: str, name: str) -> int | None:
    """The number of a DAG's rescue file; None if it is none."""
    found = _NUMBER.search(name)
    return int(found[1]) if found and name == rescue_name(dag, int(found[1])) else None


def rescue_text(dag: str, done: Sequence[str], failed: Sequence[str], total: int) -> str:
    """A rescue file as DAGMan reads it: only DONE lines count, the rest is for people."""
    return "".join(
        [
            f"# Rescue file for {dag}, written by Headway.\n",
            f"# {len(done)} of {total} nodes done, {len(failed)} failed{':' if failed else '.'}\n",
            *(f"#   {name}\n" for name in failed[:100]),
            *(f"DONE {name}\n" for name in done),
        ]
    )
