"""What is simulated: the settings of section 4.2, how often, and in which orders the jobs stand in the file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from headway.experiments.prio.dags import made
from headway.model.dag import Dag
from headway.policies.what_next import order
from headway.sim.comparison import Effort
from headway.sim.grid import Model, Queue

INTERVALS = tuple(10.0**power for power in range(-3, 4))
BATCHES = tuple(2.0**power for power in range(17))
SHUFFLES = tuple(range(1, 11))  # claims are judged by these files: a shuffled one favours nobody, ten show the chance
TIDY = 0  # the order of our generators
PAPER = Effort(300, 300)


@dataclass(frozen=True)
class Case:
    """A dag of the paper, in a reading, with its jobs in some order of the file."""

    name: str
    shuffle: int  # TIDY, or the seed of a shuffle
    reading: str = ""  # the one that claims are judged by

    @property
    def file(self) -> str:
        return f"shuffle {self.shuffle}" if self.shuffle else "as generated"

    @cached_property
    def dag(self) -> Dag:
        found = made(self.name, self.reading)
        return (found.shuffled(self.shuffle) if self.shuffle else found).dag()

    @cached_property
    def model(self) -> Model:
        return Model(self.dag)

    @cached_property
    def queues(self) -> dict[str, Queue]:
        return {name: Queue.by(order(name)(self.dag)) for name in ("prio", "fifo")}
