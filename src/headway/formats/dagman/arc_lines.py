"""The lines that say what waits for what: PARENT … CHILD, and the pins of splices."""

from __future__ import annotations

from headway.formats.dagman.nodes import Dag
from headway.formats.dagman.words import WordError, integer


def arcs(words: list[str], line: int, dag: Dag, weak: bool = False) -> None:
    """PARENT … CHILD …: every parent before every child."""
    members = dag.members
    if len(words) == 4 and words[2] == "CHILD" and not dag.splices and words[1] != words[3]:
        parent, child = members.place(words[1]), members.place(words[3])
        if parent is not None and child is not None:  # nearly every line that comes here
            members.arc(parent, child, line, weak)
            return
    sides = [at for at, word in enumerate(words) if word.upper() == "CHILD"]
    if not sides:
        raise WordError("PARENT without CHILD.", "Expected PARENT A CHILD B.")
    parents = words[1 : sides[0]]
    children = [word for word in words[sides[0] + 1 :] if word.upper() != "CHILD"]
    if not parents:
        raise WordError("no parent is named.", "Expected PARENT A CHILD B.")
    if not children:
        raise WordError("no child is named.", "Expected PARENT A CHILD B.")
    dag.join(
        dag.ends(parents, lambda splice: splice.terminal),
        dag.ends(children, lambda splice: splice.initial),
        line,
        weak,
    )


def weak_arcs(words: list[str], line: int, dag: Dag) -> None:
    """WEAK PARENT … CHILD …: the children need the parents finished, not succeeded."""
    if len(words) < 2 or words[1].upper() != "PARENT":
        raise WordError("WEAK without PARENT.", "Expected WEAK PARENT A CHILD B.")
    arcs(words[1:], line, dag, weak=True)


def connect(words: list[str], line: int, dag: Dag) -> None:
    """CONNECT waits until the whole DAG is read: its splices must know all their pins."""
    if len(words) != 3:
        raise WordError("CONNECT takes two splices.", "Expected CONNECT SPLICE SPLICE.")
    dag.connects.append((words[1], words[2], line))


def pin(keyword: str, words: list[str], dag: Dag) -> None:
    """PIN_IN or PIN_OUT: gives a node a number by which CONNECT finds it."""
    if len(words) != 3:
        raise WordError(f"{keyword} takes a node and a number.", f"Expected {keyword} NODE NUMBER.")
    at = dag.members.place(words[1])
    if at is None or "+" in words[1]:
        raise dag.unknown(words[1])
    pins = dag.pins_in if keyword == "PIN_IN" else dag.pins_out
    pins.setdefault(integer(words[2], "the pin's number", 1), []).append(at)
