from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headway.policies.by_when.sequences import decomposition
from headway.policies.by_when.windows import Window, Windows
from tests.policies.by_when.dags import fork_join, random_dag


@given(st.integers(0, 10**6), st.integers(1, 14), st.floats(1.0, 4.0), st.sampled_from([0, 50]))
def test_every_window_has_its_share_and_lies_between_those_of_its_neighbours(
    seed: int, size: int, share: float, notice: int
) -> None:
    """Whatever was reserved before it, and however much earlier than it had to."""
    rng = Random(seed)
    dag = random_dag(rng, size)
    times = [rng.randint(100, 1000) for _ in range(size)]
    cut = decomposition(dag, times)
    deadline = 1000 + int(share * sum(times[job] for job in cut.sequences[0])) + notice * size
    windows = Windows(dag, cut, times, 1000, deadline, notice)
    for number, sequence in enumerate(cut.sequences):
        for job, window in zip(sequence, windows.of_sequence(number), strict=True):
            assert window.start >= 1000 and window.end <= deadline
            assert window.end - window.start >= int(windows.share * times[job]) - len(dag)
            if rng.random() < 0.5:  # its node promises an earlier end
                windows.pin(job, Window(window.start, rng.randint(window.start + times[job], window.end)))
    assert windows.share >= 1
    for job, child in dag.arcs():
        apart = notice if cut.sequence_of[job] != cut.sequence_of[child] else 0
        assert windows.pinned[job].end + apart <= windows.pinned[child].start


def test_the_branches_of_a_fork_join_have_room_and_not_their_bare_length() -> None:
    """What the paper's words give them: the fork ends where the longest branch must begin (docs/differences.md)."""
    dag = fork_join(8)
    windows = Windows(dag, decomposition(dag, [100] * 10), [100] * 10, 0, 600)
    windows.of_sequence(0)
    assert windows.of_sequence(1) == [Window(200, 400)]


def test_inside_a_sequence_only_what_others_count_on_is_bound() -> None:
    dag = fork_join(2)
    windows = Windows(dag, decomposition(dag, [100] * 4), [100] * 4, 1000, 1900)
    assert windows.floating(0) == [(1000, 1300), (0, 0), (1600, 1900)]
