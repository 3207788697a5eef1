"""The SQL of the store says states and kinds by name."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import headway.live.store
from headway.live.store import opened
from headway.live.store.statements import DIALECTS, statements
from headway.model.states import Kind, State

FILES = sorted(Path(headway.live.store.__file__).parent.glob("*.sql"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_statement_has_a_state_or_a_kind_as_a_number(path: Path) -> None:
    text = re.sub(r"--.*", "", path.read_text())
    assert re.findall(r"\b(?:state|kind)\s*(?:[=<>]+|(?:NOT )?IN|BETWEEN)[\s(]*\d.*", text) == []
    assert re.findall(r"THEN \d+ ELSE (?:state|kind)\b", text) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_become_the_numbers_that_the_engine_has_for_them(dialect: str) -> None:
    text = statements(dialect)["is_running"].text
    assert f"state = {int(State.RUNNING)} AND kind NOT IN ({int(Kind.SERVICE)}, {int(Kind.PROVISIONER)})" in text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_name_in_a_statement_is_known(dialect: str) -> None:
    found = statements(dialect)
    names = [name for path in FILES for name in re.findall(r"^-- name: (\w+)$", path.read_text(), re.MULTILINE)]
    assert len(names) == len(set(names)) > 100
    assert all("{" not in found[name].text for name in names)


# What exchanges, waiting placeholders and looks at a queue ask again and again.
OFTEN = ("outlook", "is_running", "running", "running_lanes", "wanted", "eligible_cores", "ahead")


@pytest.mark.parametrize("name", OFTEN)
def test_what_is_asked_often_does_not_look_at_all_jobs_of_a_workflow(name: str, tmp_path: Path) -> None:
    """A million jobs that wait would cost half a second each time."""
    opened(tmp_path / "store.db").close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        statement = statements("sqlite")[name]
        plan = database.execute(f"EXPLAIN QUERY PLAN {statement.text}", [1] * len(statement.names)).fetchall()
    steps = [step for *_, step in plan if step.startswith(("SEARCH", "SCAN"))]
    assert steps
    large = re.compile(
        r"(?:SEARCH|SCAN) (?:jobs|arcs|j|a)\b(?! USING (?:COVERING )?INDEX jobs_)(?!.*(?:job|parent)=\?)"
    )
    assert [step for step in steps if large.match(step)] == []
