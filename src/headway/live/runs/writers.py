"""Jobs that write the same file, though nothing says which of them comes first: one would undo the other's work."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from headway.model.dag import Dag
from headway.model.errors import shown
from headway.model.flatten import Flat
from headway.model.job import HERE, Job

_MOST_STEPS = 2_000_000  # arcs that are looked at in all: a second or two
_MOST_TOLD = 20  # files


def shared_outputs(flat: Flat, beside: Sequence[tuple[str, Job]] = ()) -> list[str]:
    """A sentence for each file that two jobs write without an order between them.

    `beside`: SERVICE and PROVISIONER nodes, which run while others do.
    """
    found, more = _beside(flat, beside) if beside else [], 0
    search = _Search(flat.dag)
    for file, nodes in _written(flat):
        try:
            pair = search.unordered(nodes)
        except _TooLongError:
            found.append("whether jobs that write the same files are all ordered was not looked at to the end.")
            break
        if pair is not None:
            if len(found) < _MOST_TOLD:
                found.append(_sentence(file, *(flat.dag.names[node] for node in pair)))
            else:
                more += 1
    return [*found, f"and {more:,} more files that several jobs write."] if more else found


def _sentence(file: str, *names: str) -> str:
    first, second = map(shown, names)
    file = file.replace("\x02CLUSTER\x02", "$(Cluster)")
    if first == second:
        return f"the processes of {first} all write {shown(file)}: the last to end wins. Put $(Process) into its name."
    return f"{first} and {second} both write {shown(file)}, and neither waits for the other: the last to end wins."


def _beside(flat: Flat, beside: Sequence[tuple[str, Job]]) -> list[str]:
    """A sentence for each file of a node beside the order that another node writes too."""
    mine: dict[str, str] = {}
    found: dict[str, str] = {}
    for name, job in beside:
        for file in _known(job):
            if mine.setdefault(file, name) != name:
                found.setdefault(file, _sentence(file, mine[file], name))
    for name, other in zip(flat.dag.names, flat.jobs, strict=True):
        for part in () if other is None else other.parts or (other,):
            for file in _known(part):
                if file in mine:
                    found.setdefault(file, _sentence(file, mine[file], name))
    return list(found.values())[:_MOST_TOLD]


def _known(job: Job) -> Iterable[str]:
    """The files of a job whose names are known before it is submitted."""
    return {file for file in _files(job) if "\x02" not in file}


def _written(flat: Flat) -> list[tuple[str, list[int]]]:
    """The files that more than one job writes, or more than one process of a job, each with the jobs in order."""
    writers: dict[str, list[int]] = {}
    for node, job in enumerate(flat.jobs):
        if job is None or (job.setting is HERE and not job.outputs and not job.parts):
            continue
        for part in job.parts or (job,):
            for file in set(_files(part)):
                if "\x02CHOICE:" in file or "\x02INTEGER:" in file:
                    continue  # nobody knows yet
                # The number of a submission is the same for the processes of one node only.
                writers.setdefault(f"{node}\0{file}" if "\x02" in file else file, []).append(node)
    return [(key.rpartition("\0")[2], nodes) for key, nodes in writers.items() if len(nodes) > 1]


def _files(job: Job) -> Iterator[str]:
    for name in (job.setting.stdout, job.setting.stderr, *job.outputs):
        if name and not name.startswith("/dev/"):
            path = posixpath.join(job.setting.directory, name) if job.setting.directory else name
            plain = "//" not in path and "/." not in path and not path.startswith("./")
            yield path if plain else posixpath.normpath(path)


class _TooLongError(Exception):
    """Too many arcs were looked at."""


class _Search:
    """Which jobs come before which, as far as that is asked."""

    def __init__(self, dag: Dag) -> None:
        self._dag = dag
        self._left = _MOST_STEPS
        self._place: Sequence[int] = ()

    def unordered(self, nodes: Sequence[int]) -> tuple[int, int] | None:
        """Two of these nodes of which neither comes before the other, if there are any."""
        place = self._places()
        ordered = sorted(nodes, key=place.__getitem__)
        for before, after in pairwise(ordered):
            if before == after or not self._leads(before, after):
                return before, after
        return None

    def _places(self) -> Sequence[int]:
        """Where each node is in an order of all: what comes later leads to none before it."""
        if not self._place:
            place = [0] * len(self._dag)
            for at, node in enumerate(self._dag.order):
                place[node] = at
            self._place = place
        return self._place

    def _leads(self, before: int, after: int) -> bool:
        place, parents = self._place, self._dag.parents_of
        stack, seen = [after], {after}
        while stack:
            for parent in parents(stack.pop()):
                if parent == before:
                    return True
                self._left -= 1
                if parent not in seen and place[parent] > place[before]:
                    seen.add(parent)
                    stack.append(parent)
            if self._left < 0:
                raise _TooLongError
        return False
