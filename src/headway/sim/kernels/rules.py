"""The rules of policies/where, compiled as they are: a kernel calls the very functions that a run calls."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from headway.policies.where import POLICIES, patience, rule, seen


def machine_code(function: Callable[..., Any]) -> Any:
    """A function compiled from its own code; functions of ours that it calls are compiled with it."""
    known = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(known.get(name), FunctionType):
            known[name] = machine_code(known[name])
    return numba.njit(FunctionType(function.__code__, known, function.__name__), nogil=True)


NUMBERS = {name: number for number, name in enumerate(POLICIES)}  # what a policy is called in a kernel

opportunistic, prompt = machine_code(rule("opportunistic")), machine_code(rule("prompt"))
weighted, round_robin = machine_code(rule("weighted")), machine_code(rule("round-robin"))
last_used, data_present = machine_code(rule("last-used")), machine_code(rule("data-present"))
at_random = machine_code(rule("random"))

sent, began, ended = machine_code(seen.sent), machine_code(seen.began), machine_code(seen.ended)
failed, withdrawn = machine_code(seen.failed), machine_code(seen.withdrawn)
runs_out = machine_code(patience.runs_out)

OPPORTUNISTIC, PROMPT, WEIGHTED = NUMBERS["opportunistic"], NUMBERS["prompt"], NUMBERS["weighted"]
ROUND_ROBIN, LAST_USED, DATA_PRESENT = NUMBERS["round-robin"], NUMBERS["last-used"], NUMBERS["data-present"]


@numba.njit(nogil=True)
def choose(which: int, candidates: Any, rows: Any, processors: Any, present: Any, now: float, draw: float) -> int:
    """What the policy of a number answers."""
    if which == OPPORTUNISTIC:
        chosen: int = opportunistic(candidates, rows, processors, present, now, draw)
    elif which == PROMPT:
        chosen = prompt(candidates, rows, processors, present, now, draw)
    elif which == WEIGHTED:
        chosen = weighted(candidates, rows, processors, present, now, draw)
    elif which == ROUND_ROBIN:
        chosen = round_robin(candidates, rows, processors, present, now, draw)
    elif which == LAST_USED:
        chosen = last_used(candidates, rows, processors, present, now, draw)
    elif which == DATA_PRESENT:
        chosen = data_present(candidates, rows, processors, present, now, draw)
    else:
        chosen = at_random(candidates, rows, processors, present, now, draw)
    return chosen
