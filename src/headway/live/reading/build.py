"""Runs a Python script that builds a workflow."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.reading.python_script import answer


def build(path: str, arguments: Sequence[str]) -> str:
    """The workflow, as JSON that `formats.script` reads."""
    return answer("headway.live.reading.child_build", path, arguments)
