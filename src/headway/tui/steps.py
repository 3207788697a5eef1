"""What a browser does to groups, as TrellisDAG's Fig. 15 numbers it."""

from __future__ import annotations

from headway.model.record import record


@record
class Step:
    """One command that changes how groups stand."""

    number: int  # in the paper's menu
    key: str  # in ours
    name: str
    verbs: tuple[str, ...]  # of steering, one after the other
    only: bool = False  # what depends on the group stays as it is
    asks: bool = False  # whether something would be lost: it is confirmed first


STEPS = (
    Step(3, "e", "Enable", ("enable",)),
    Step(4, "d", "Disable", ("disable",)),
    Step(5, "n", "Not started", ("redo",), only=True, asks=True),
    Step(6, "f", "Done", ("done",), asks=True),
    Step(7, "s", "Stop", ("stop", "enable"), asks=True),
    Step(8, "x", "Stop-Disable", ("stop",), asks=True),
)
