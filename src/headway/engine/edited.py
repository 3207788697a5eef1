"""A workflow whose file was edited: which jobs of the new one an earlier run has done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.model.dag import Dag

KEEP, RERUN, REFUSE = "keep", "rerun", "refuse"
WAYS = (REFUSE, RERUN, KEEP)


def still_done(
    dag: Dag, definitions: Sequence[str | None], before: Mapping[str, tuple[bool, str]], way: str
) -> frozenset[int]:
    """The nodes of the new dag that need not run.

    `definitions` says what each node is now, None for a milestone; `before` whether a job was done, and what it was.
    With `keep` a job that was done under its name stays done. With `rerun` one that is another now runs again, and so
    does everything after it.
    """
    stale: set[int] = set()
    kept: set[int] = set()
    for node in dag.order:
        definition = definitions[node]
        behind = any(parent in stale for parent in dag.parents_of(node))
        if definition is None:
            if behind:
                stale.add(node)
            continue
        done, was = before.get(dag.names[node], (False, ""))
        if done and (way == KEEP or (was == definition and not behind)):
            kept.add(node)
        elif way == RERUN:
            stale.add(node)
    return frozenset(kept)
