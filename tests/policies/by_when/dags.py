"""Dags that tests of deadlines share."""

from __future__ import annotations

from random import Random

from headway.model.dag import Dag


def random_dag(rng: Random, size: int, share: float = 0.3) -> Dag:
    arcs = [(one, other) for other in range(size) for one in range(other) if rng.random() < share]
    return Dag([str(job) for job in range(size)], [one for one, _ in arcs], [other for _, other in arcs])


def fork_join(size: int) -> Dag:
    """A job, so many beside each other, and a job after all of them."""
    middle = range(1, size + 1)
    return Dag([str(job) for job in range(size + 2)], [0] * size + [*middle], [*middle] + [size + 1] * size)


def laplace(size: int) -> Dag:
    """A grid in which each job waits for those above it and to its left."""
    right = [(row * size + at, row * size + at + 1) for row in range(size) for at in range(size - 1)]
    down = [(row * size + at, row * size + at + size) for row in range(size - 1) for at in range(size)]
    arcs = right + down
    return Dag([str(job) for job in range(size * size)], [one for one, _ in arcs], [other for _, other in arcs])
