from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headway.model.dag import Dag
from headway.policies.by_when.sequences import Decomposition, decomposition
from tests.policies.by_when.dags import fork_join, laplace, random_dag


def check_properties(dag: Dag, lengths: list[int], cut: Decomposition) -> None:
    """Both properties of section IV, that nothing is left out, and that each sequence is a longest one."""
    taken: set[int] = set()
    for sequence in cut.sequences:
        assert all(later in dag.children_of(job) for job, later in pairwise(sequence))
        for job in sequence[1:]:
            assert taken.isdisjoint(dag.parents_of(job))
        for job in sequence[:-1]:
            assert taken.isdisjoint(dag.children_of(job))
        assert sum(lengths[job] for job in sequence) == longest(dag, lengths, taken)
        assert taken.isdisjoint(sequence)
        taken.update(sequence)
    assert len(taken) == len(dag)


def longest(dag: Dag, lengths: list[int], taken: set[int]) -> int:
    """By the definition: the longest path of untaken jobs whose arcs are all usable."""
    best: dict[int, int] = {}
    for job in dag.order:
        if job in taken:
            continue
        before = [0]
        if taken.isdisjoint(dag.parents_of(job)):
            before += [best[one] for one in dag.parents_of(job) if taken.isdisjoint(dag.children_of(one))]
        best[job] = lengths[job] + max(before)
    return max(best.values())


@given(st.integers(0, 10**6), st.integers(1, 14), st.sampled_from([1, 3, 100]))
def test_every_sequence_is_a_longest_one_with_both_properties(seed: int, size: int, most: int) -> None:
    rng = Random(seed)
    dag = random_dag(rng, size)
    lengths = [rng.randint(1, most) for _ in range(size)]
    check_properties(dag, lengths, decomposition(dag, lengths))


@given(st.integers(0, 10**6), st.integers(1, 14))
def test_a_sequence_is_sent_after_all_earlier_ones_that_it_is_tied_to(seed: int, size: int) -> None:
    rng = Random(seed)
    dag = random_dag(rng, size)
    cut = decomposition(dag, [rng.randint(1, 9) for _ in range(size)])
    for job, child in dag.arcs():
        one, other = sorted((cut.sequence_of[job], cut.sequence_of[child]))
        assert one == other or cut.stages[one] < cut.stages[other]


def test_a_fork_join_takes_two_stages_whatever_its_size() -> None:
    for size in (2, 8, 100):
        dag = fork_join(size)
        assert decomposition(dag, [60] * len(dag)).width == 2


def test_a_laplace_workflow_of_k_rows_takes_2k_minus_3_stages() -> None:
    for size in (3, 4, 8, 16):
        assert decomposition(laplace(size), [60] * size * size).width == 2 * size - 3


def test_the_first_sequence_is_the_critical_path() -> None:
    dag = laplace(4)
    lengths = [1, 5, 1, 1, 1, 5, 5, 1, 1, 1, 5, 1, 1, 1, 5, 5]
    assert decomposition(dag, lengths).sequences[0] == (0, 1, 5, 6, 10, 14, 15)


def test_barriers_are_seen_through() -> None:
    """Two jobs, a milestone, two jobs: every pair is joined."""
    dag = Dag([*"ab-cd"], [0, 1, 2, 2], [2, 2, 3, 4], milestones=bytes([0, 0, 1, 0, 0]))
    cut = decomposition(dag, [3, 1, 0, 1, 3])
    assert cut.sequences == ((0, 4), (1,), (3,)) and cut.stages == (1, 2, 3) and cut.sequence_of[2] == -1


def test_a_path_that_is_taken_shortens_paths_that_begin_before_it() -> None:
    """Jobs that come earlier in the file than all of the path, and hang on a parent of its first job."""
    rng = Random(7)
    for _ in range(20):
        size = 120
        pairs = {(one, rng.randrange(one + 1, min(size, one + 12))) for one in range(size - 1) for _ in range(3)}
        dag = Dag([str(job) for job in range(size)], [one for one, _ in pairs], [other for _, other in pairs])
        lengths = [rng.randint(1, 50) for _ in range(size)]
        check_properties(dag, lengths, decomposition(dag, lengths))
