"""What a run says of its deadline beforehand, by what is known of its slots."""

from __future__ import annotations

from pathlib import Path

from headway.live.runs.deadline import Deadline
from headway.live.store import opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job


def said(folder: Path, queues: list[str]) -> str:
    """Of two jobs of a minute each, side by side on two slots, and an hour."""
    store = opened(folder / "store.db")
    flat = Flat(Dag(["a", "b"], [], [], [60.0, 60.0]), [Job("a", seconds=60.0), Job("b", seconds=60.0)], frozenset())
    number = store.submissions.add(Submission("w", "/w.dag", "/", flat, [0, 0]), 0.0)
    deadline = Deadline(3600.0)
    deadline.queues = queues
    (sentence,) = deadline.foresee(store, number, flat, {}, 2)
    store.close()
    return sentence


def test_with_slots_of_its_own_a_run_can_promise(tmp_path: Path) -> None:
    assert "it can be met: the jobs take 60 s" in said(tmp_path, [])


def test_where_jobs_wait_in_a_queue_nothing_is_promised(tmp_path: Path) -> None:
    sentence = said(tmp_path, ["cluster", "old"])
    assert "it may be met" in sentence
    assert "how long they wait in the queue of cluster and of old is not known" in sentence
