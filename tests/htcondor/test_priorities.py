"""What a real HTCondor makes of `headway prio`: section 3.2 of the PRIO paper, and docs/prio-tool.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from headway.formats.dagman.instrument import instrumented
from headway.live.reading.files import Files
from headway.live.reading.rewrite import replace_all
from headway.model.dag import Dag
from tests.infra.htcondor import Pool, pool
from tests.papers.test_prio_section_3_2 import IV
from tests.shell import answer

pytestmark = pytest.mark.xdist_group("htcondor")  # one pool is enough

FAN = "JOB A a.sub\n" + "".join(f"JOB B{number} a.sub\nPARENT A CHILD B{number}\n" for number in range(8))


@dataclass(frozen=True, slots=True)
class Ran:
    """The nodes in the order their jobs began, the priority each job had, and what `headway prio` promised."""

    order: list[str]
    priorities: dict[str, int]
    promised: dict[str, int]


def last_first(dag: Dag) -> list[int]:
    return [len(dag) - node for node in range(len(dag))]


def fan(place: Path, style: str) -> dict[str, int]:
    """A -> B0..B7, with a higher priority the later a node stands in the file."""
    (place / "x.dag").write_text(FAN)
    found = instrumented(str(place / "x.dag"), Files(), last_first, style)
    replace_all((change.path, change.after) for change in found.changes)
    return found.priorities


def of_the_paper(place: Path, style: str) -> dict[str, int]:
    (place / "x.dag").write_text(IV)
    for job in "abcde":
        (place / f"{job}.submit").write_bytes((place / "a.sub").read_bytes())
    found: dict[str, int] = answer("prio", "x.dag", "--style", style, cwd=place)["priorities"]
    return found


def all_sorts(place: Path, style: str) -> dict[str, int]:
    """Every way to declare a node, and files as other people's editors leave them."""
    mine = "PRIORITY B 77\n" if style == "priority" else ""
    inline = "executable = /bin/true\nlog = jobs.log\njob_ad_information_attrs = JobPrio, DAGNodeName\n"
    texts = {
        "x.dag": f"# mine\nJOB A {{\n{inline}}}\nSUBMIT-DESCRIPTION d {{\n{inline}}}\nJOB B d\n{mine}"
        "SPLICE S s.dag\nSPLICE T s.dag\nPARENT A CHILD B S\nINCLUDE i.dag\nSUBDAG EXTERNAL U u.dag\nFINAL F a.sub\n"
        "PARENT B CHILD \\\n  C \\\n  U",
        "s.dag": "JOB A a.sub\r\nJOB N a.sub NOOP\r\nPARENT N CHILD A\r\n",
        "i.dag": "JOB C a.sub\n",
        "u.dag": "JOB V v.sub\n",
    }
    for name, text in texts.items():
        (place / name).write_bytes(text.encode())
    (place / "v.sub").write_bytes((place / "a.sub").read_bytes())
    inner: dict[str, int] = answer("prio", "u.dag", "--by", "critical-path", "--style", style, cwd=place)["priorities"]
    outer: dict[str, int] = answer("prio", "x.dag", "--by", "critical-path", "--style", style, cwd=place)["priorities"]
    return {**outer, **{name: value + outer.get("U", 0) for name, value in inner.items()}}


SCENES: Mapping[str, tuple[Callable[[Path, str], dict[str, int]], str]] = {
    "fan": (fan, "priority"),
    "fan with vars": (fan, "vars"),
    "paper": (of_the_paper, "priority"),
    "all sorts": (all_sorts, "priority"),
    "all sorts with vars": (all_sorts, "vars"),
}


@pytest.fixture(scope="module")
def htcondor() -> Iterator[Pool]:
    with pool() as running:
        yield running


@pytest.fixture(scope="module")
def ran(htcondor: Pool) -> Iterator[Callable[[str], Ran]]:
    """Runs all DAGs side by side: nearly all of the time HTCondor waits for its own next turn."""

    def run(name: str) -> Ran:
        place = htcondor.workplace(name.replace(" ", "-"))
        prepare, style = SCENES[name]
        promised = prepare(place, style)
        begun = htcondor.run(place / "x.dag", "-maxjobs", "1")
        return Ran([node for node, _ in begun], dict(begun), promised)

    with ThreadPoolExecutor(len(SCENES)) as threads:
        futures: dict[str, Future[Ran]] = {name: threads.submit(run, name) for name in SCENES}
        yield lambda name: futures[name].result()


def test_htcondor_runs_nodes_with_priority_lines_in_their_order_under_a_throttle(ran: Callable[[str], Ran]) -> None:
    found = ran("fan")
    assert found.order == ["A", *(f"B{number}" for number in reversed(range(8)))]
    assert found.priorities == found.promised == {"A": 1, **{f"B{number}": number + 2 for number in range(8)}}


def test_htcondor_runs_nodes_of_the_papers_style_first_come_first_served(ran: Callable[[str], Ran]) -> None:
    found = ran("fan with vars")
    assert found.order == ["A", *(f"B{number}" for number in range(8))]
    assert found.priorities == found.promised  # each job has its priority, but DAGMan does not know


def test_htcondor_runs_figure_3_of_the_paper_in_the_order_of_prio(ran: Callable[[str], Ran]) -> None:
    found = ran("paper")
    assert found.order == ["c", "a", "b", "d", "e"]
    assert found.priorities == {"c": 5, "a": 4, "b": 3, "d": 2, "e": 1}


@pytest.mark.parametrize("scene", ["all sorts", "all sorts with vars"])
def test_htcondor_gives_every_job_the_priority_that_was_promised(ran: Callable[[str], Ran], scene: str) -> None:
    found = ran(scene)
    assert set(found.priorities) == {"A", "B", "C", "S+A", "T+A", "V", "F"}
    assert found.priorities == {"F": 0, **{name: found.promised[name] for name in found.priorities if name != "F"}}


@pytest.mark.parametrize(("style", "order"), [("priority", "cabde"), ("vars", "acbde")])
def test_htcondors_dry_run_of_figure_3_follows_priority_lines_alone(htcondor: Pool, style: str, order: str) -> None:
    place = htcondor.workplace(f"dry-{style}")
    of_the_paper(place, style)
    assert htcondor.dry_run(place / "x.dag") == list(order)
