"""Runs a DAG description script."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.reading.python_script import answer


def describe(path: str, arguments: Sequence[str]) -> str:
    """The script's answers, as JSON that `formats.description` reads."""
    return answer("headway.live.reading.child_describe", path, arguments)
