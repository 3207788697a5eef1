"""Headway runs a workflow of dependent jobs to its end on whatever computers turn up.

What is imported from here is public; everything below it may change.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.reading.read import read as read
    from headway.live.reading.read import write as write
    from headway.model.dag import Dag as Dag
    from headway.model.errors import HeadwayError as HeadwayError
    from headway.model.flatten import flatten as flatten
    from headway.model.job import Job as Job
    from headway.model.job import Resources as Resources
    from headway.model.workflow import Group as Group
    from headway.model.workflow import Workflow as Workflow

_HOME = {
    "Dag": "headway.model.dag",
    "Group": "headway.model.workflow",
    "HeadwayError": "headway.model.errors",
    "Job": "headway.model.job",
    "Resources": "headway.model.job",
    "Workflow": "headway.model.workflow",
    "flatten": "headway.model.flatten",
    "read": "headway.live.reading.read",
    "write": "headway.live.reading.read",
}
__all__ = ["Dag", "Group", "HeadwayError", "Job", "Resources", "Workflow", "flatten", "read", "write"]


def __getattr__(name: str) -> Any:
    """Imports on first use: `headway --help` must not pay for the model."""
    if name not in _HOME:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
