"""What is simulated: the settings of section 4.2, how often, and in which orders the jobs stand in the file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from headway.experiments.prio.dags import MAKERS
from headway.model.dag import Dag
from headway.policies.what_next import order
from headway.sim.comparison import Effort
from headway.sim.grid import Model, Queue

INTERVALS = tuple(10.0**power for power in range(-3, 4))
BATCHES = tuple(2.0**power for power in range(17))
FILES = ("shuffled", "as generated")  # the first is what claims are judged by: it favours nobody

# p samples of q replications. The paper has 300 and 300 for all; 300 and 30 are some hours for SDSS alone.
QUICK = {"airsn": Effort(50, 20), "inspiral": Effort(40, 8), "montage": Effort(24, 5), "sdss": Effort(16, 3)}
FULL = {"airsn": Effort(300, 300), "inspiral": Effort(300, 300), "montage": Effort(300, 100), "sdss": Effort(300, 30)}
PAPER = Effort(300, 300)


@dataclass(frozen=True)
class Case:
    """A dag of the paper with its jobs in some order of the file."""

    name: str
    file: str

    @cached_property
    def dag(self) -> Dag:
        found = MAKERS[self.name]()
        return (found.shuffled(1) if self.file == "shuffled" else found).dag()

    @cached_property
    def model(self) -> Model:
        return Model(self.dag)

    @cached_property
    def queues(self) -> dict[str, Queue]:
        return {name: Queue.by(order(name)(self.dag)) for name in ("prio", "fifo")}

    @cached_property
    def digest(self) -> str:
        """Another dag or another order is another case, whatever it is called."""
        known = sha256(self.dag.child_start.tobytes() + self.dag.children.tobytes())
        for queue in self.queues.values():
            known.update(queue.kinds.tobytes())
        return known.hexdigest()[:16]
