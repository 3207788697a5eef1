"""What a method is told of waits: by the queue's own plan, by that with what jobs really use, or by history alone."""

from __future__ import annotations

from headway.engine.waits import bound, class_of
from headway.model.errors import UsageError, shown
from headway.model.messages import Seconds
from headway.policies.how_much import WaitEstimate
from headway.sim.replay import FastQueue, Replay

ESTIMATES = {
    "requested": "showstart, as in the paper: everybody uses all the time that was asked for",
    "corrected": "showstart, if everybody uses the share of it that the last thousand jobs have used (their median)",
    "history": "an upper bound on 95% of the last 500 waits of requests as wide, with 95% confidence",
    "history-median": "the same on half of them",
}
_PAST = 500


def check(name: str) -> None:
    if name not in ESTIMATES:
        raise UsageError(f"there is no estimate {shown(name)}.", f"There are {', '.join(ESTIMATES)}.")


def estimate(name: str, queue: FastQueue, replay: Replay, begun: Seconds) -> WaitEstimate:
    """The estimate of that name, for what is asked in a queue that was checkpointed at some time.

    What is known of the past is what it was at that time, when nothing of ours had been in the queue.
    """
    check(name)
    if name == "requested":
        return queue.showstart
    if name == "corrected":
        used = replay.used(begun)
        return lambda width, seconds: queue.showstart(width, seconds, used)
    quantile = 0.95 if name == "history" else 0.5
    known: dict[tuple[int, int], Seconds | None] = {}

    def by_history(width: int, seconds: Seconds) -> Seconds | None:
        some = class_of(width)
        if some not in known:
            known[some] = bound(replay.past_waits(begun, *some, _PAST).tolist(), quantile)
        return known[some]

    return by_history
