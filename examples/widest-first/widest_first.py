"""Jobs with most children first."""

from __future__ import annotations

from headway import Dag


def ranks(dag: Dag) -> list[int]:
    """A rank for every node, smaller first; equal ranks run in the order they became eligible."""
    return [-len(dag.children_of(node)) for node in range(len(dag))]
