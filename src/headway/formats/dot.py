"""Graphviz, write only: groups are clusters, milestones points, weak arcs dashed.

What is known of a job is its tooltip, which Graphviz keeps in SVG.
"""

from __future__ import annotations

from collections.abc import Iterator

from headway.formats.clusters import Cluster, clusters, special_nodes
from headway.formats.losses import lost
from headway.formats.world import Rendering
from headway.model import attributes
from headway.model.flatten import Flat, flatten
from headway.model.job import Job
from headway.model.workflow import Workflow


def render(workflow: Workflow) -> Rendering:
    """The graph, nodes and arcs in file order."""
    flat = flatten(workflow)
    lines = [
        f"digraph {quoted(workflow.name)} {{",
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
        '  graph [fontname="Helvetica", color=gray60];',
        *_cluster(clusters(workflow, flat), flat, "  ", iter(range(len(flat.dag)))),
        *_special(workflow, len(flat.dag)),
    ]
    lines += [
        f"  n{parent} -> n{child}{' [style=dashed]' if (parent, child) in flat.weak else ''};"
        for parent, child in flat.dag.arcs()
    ]
    return Rendering("\n".join([*lines, "}", ""]), lost(workflow, {"groups", "retries", "weak", "special"}))


def _cluster(cluster: Cluster, flat: Flat, indent: str, numbers: Iterator[int]) -> Iterator[str]:
    for node, label in cluster.nodes:
        job = flat.jobs[node]
        if job is None:
            yield f"{indent}n{node} [shape=point, tooltip={quoted(label)}];"
        else:
            yield f"{indent}n{node} [label={quoted(label)}{_tooltip(job)}];"
    for inner in cluster.inner:
        yield f"{indent}subgraph cluster_{next(numbers)} {{"
        yield f"{indent}  label={quoted(inner.label)};"
        yield from _cluster(inner, flat, indent + "  ", numbers)
        yield f"{indent}}}"


def _special(workflow: Workflow, number: int) -> Iterator[str]:
    for at, (kind, group) in enumerate(special_nodes(workflow), number):
        tooltip = _tooltip(group.jobs[0]) if group.jobs else ""
        yield f'  n{at} [label={quoted(f"{kind}: {group.name}")}, style="rounded,dashed"{tooltip}];'


def _tooltip(job: Job) -> str:
    known = [job.command or job.description] + [f"{key}={value}" for key, value in attributes.pairs_of(job)]
    text = "\n".join(line for line in known if line)
    return f", tooltip={quoted(text)}" if text else ""


def quoted(text: str) -> str:
    """A string of DOT that shows the text as it is: a label's own escapes are undone by a second backslash."""
    return '"' + "".join(_character(character) for character in text) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == "\n":
        return "\\n"
    if character == "&":  # or it begins an entity
        return "&amp;"
    return character if character.isprintable() else "\ufffd"
