"""Mermaid flow charts, write only: names, groups and order; weak arcs dotted."""

from __future__ import annotations

from collections.abc import Iterator

from headway.formats.clusters import Cluster, clusters, special_nodes
from headway.formats.world import Rendering
from headway.model.flatten import Flat, flatten
from headway.model.workflow import Workflow

_SAFE = frozenset(" _-/,()=@")


def render(workflow: Workflow) -> Rendering:
    """The chart, nodes and arcs in file order."""
    flat = flatten(workflow)
    lines = ["flowchart TD", *_cluster(clusters(workflow, flat), flat, "  ", iter(range(len(flat.dag))))]
    for at, (kind, group) in enumerate(special_nodes(workflow), len(flat.dag)):
        lines.append(f"  n{at}[[{quoted(f'{kind}: {group.name}')}]]")
    lines += [
        f"  n{parent} {'-.->' if (parent, child) in flat.weak else '-->'} n{child}" for parent, child in flat.dag.arcs()
    ]
    return Rendering("\n".join([*lines, ""]), ["anything but names, groups and order"])


def _cluster(cluster: Cluster, flat: Flat, indent: str, numbers: Iterator[int]) -> Iterator[str]:
    for node, label in cluster.nodes:
        yield f'{indent}n{node}((" "))' if flat.jobs[node] is None else f"{indent}n{node}[{quoted(label)}]"
    for inner in cluster.inner:
        yield f"{indent}subgraph g{next(numbers)}[{quoted(inner.label)}]"
        yield from _cluster(inner, flat, indent + "  ", numbers)
        yield f"{indent}end"


def quoted(text: str) -> str:
    """A label: what Mermaid might take for its own, or for Markdown, is an entity."""
    return '"' + "".join(_character(character, at) for at, character in enumerate(text)) + '"'


def _character(character: str, at: int) -> str:
    if character == "\n":
        return "<br/>"
    if not character.isprintable():
        return "\ufffd"
    return character if character.isalnum() or (at and character in _SAFE) else f"#{ord(character)};"
