"""One allocation for the whole workflow, as wide as its widest level."""

from __future__ import annotations

from headway.policies.how_much.outline import Advice, Ask, View, whole_minutes


def advice(view: View) -> Advice:
    left = view.left
    width = view.widest(left.width(left.height))
    return Advice((Ask(width, whole_minutes(left.run_time(left.height, width)), left.jobs(left.height)),))
