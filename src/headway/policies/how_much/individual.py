"""An allocation for every job, asked for when the job is eligible."""

from __future__ import annotations

from headway.policies.how_much.outline import Advice, View


def advice(view: View) -> Advice:
    return Advice(individually=True)
