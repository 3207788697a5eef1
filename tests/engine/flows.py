"""Random small workflows of nodes: scripts, processes, rules, and nodes outside the order."""

from __future__ import annotations

from hypothesis import strategies as st

from headway.engine.intake import Intake, Outside
from headway.model.flatten import Flat
from headway.model.job import Job, Resources, Rules, Script, Tolerance
from headway.model.states import Kind
from tests.sim.dags import small_dags

SCRIPTS = st.sampled_from([None, None, Script("s"), Script("s", defer=(3, 10))])


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    return Rules(
        retries=draw(st.integers(0, 2)),
        unless_exit=draw(st.sampled_from([None, None, 5])),
        pre=draw(SCRIPTS),
        post=draw(SCRIPTS),
        pre_skip=draw(st.sampled_from([None, 2])),
        abort_on=draw(st.sampled_from([None, None, None, (7, None), (7, 0)])),
        tolerance=draw(st.sampled_from([None, Tolerance(1), Tolerance(1, fail_fast=True), Tolerance(50, True)])),
        back_off=draw(st.sampled_from([0.0, 0.0, 4.0])),
        success=draw(st.sampled_from([0, 0, 4])),
    )


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """A command, a node, or a node of several processes."""
    what = draw(st.sampled_from(["plain", "node", "processes"]))
    if what == "plain":
        return Job("true", rules=Rules(retries=draw(st.integers(0, 1))))
    process = Job("true", rules=Rules(retries=draw(st.sampled_from([0, 1]))))
    parts = (process,) * draw(st.integers(2, 3)) if what == "processes" else ()
    return Job("true", rules=draw(rules()), parts=parts)


@st.composite
def workflows(draw: st.DrawFn, most: int = 6) -> Intake:
    dag = draw(small_dags(most))
    found = [None if milestone else draw(jobs()) for milestone in dag.milestones]
    weak = frozenset(arc for arc in dag.arcs() if found[arc[0]] is not None and draw(st.integers(0, 2)) == 0)
    between = [arc for arc in dag.arcs() if found[arc[0]] is not None and found[arc[1]] is not None]
    late = {child: parent for parent, child in between if draw(st.integers(0, 4)) == 0}
    ranks = draw(st.lists(st.integers(0, 2), min_size=len(dag), max_size=len(dag)))
    kinds = [kind for kind in (Kind.FINAL, Kind.SERVICE, Kind.PROVISIONER) if draw(st.booleans())]
    outside = [
        (kind, kind.name.lower(), Job("true", rules=draw(st.sampled_from([Rules(), Rules(retries=1)]))))
        for kind in kinds
    ]
    return Intake(Flat(dag, found, weak, late=late), ranks, Outside(outside))


@st.composite
def laned(draw: st.DrawFn) -> Intake:
    """Jobs with categories, named resources and several cores, and few ranks."""
    dag = draw(small_dags(8))
    found: list[Job | None] = []
    for milestone in dag.milestones:
        wants = Resources(
            cores=draw(st.sampled_from([1, 1, 1, 2, 9])),
            named=draw(st.sampled_from([(), (), (("gpu", 1),), (("disk", 2), ("gpu", 1))])),
        )
        own = Rules(category=draw(st.sampled_from([None, "c", "d", "free"])), retries=draw(st.integers(0, 1)))
        job = Job("true", rules=own, resources=wants)
        node = Job("true", rules=own, parts=(Job("true", resources=wants),) * 2)
        found.append(None if milestone else draw(st.sampled_from([job, job, job, node])))
    ranks = draw(st.lists(st.integers(0, 1), min_size=len(dag), max_size=len(dag)))
    throttles = {"c": draw(st.integers(1, 2)), "d": draw(st.integers(1, 3))}
    return Intake(Flat(dag, found, frozenset()), ranks, Outside([], throttles))
