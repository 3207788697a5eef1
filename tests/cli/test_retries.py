"""Retries that wait and ask for more memory: said by jobs, or for all of them when a run begins."""

from __future__ import annotations

import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.cli.test_run import run, script
from tests.shell import answer, headway

THIRD = "echo $(date +%s%N) >> times; test $(wc -l < times) -ge 3"


def stored(folder: Path, what: str) -> list[Any]:
    with sqlite3.connect(folder / ".headway/store.db") as db:
        return [value for (value,) in db.execute(f"SELECT {what} FROM jobs ORDER BY job")]


def waits(folder: Path) -> list[float]:
    times = [int(time) / 1e9 for time in (folder / "times").read_text().split()]
    return [later - sooner for sooner, later in pairwise(times)]


def test_each_retry_waits_twice_as_long_as_the_one_before(tmp_path: Path) -> None:
    found = run(script(tmp_path, f"mqsub -l A -c '{THIRD}' -attr retries=4 -attr backoff=0.2\n"))
    assert (found["done"], found["attempts"]) == (1, 3)
    first, second = waits(tmp_path)
    assert first >= 0.2 and second >= 0.4


def test_each_retry_asks_for_more_memory(tmp_path: Path) -> None:
    run(script(tmp_path, f"mqsub -l A -c '{THIRD}' -attr retries=4 -attr memory=100 -attr more_memory=1.5\n"))
    assert stored(tmp_path, "memory") == [225]


def test_a_run_gives_retries_to_jobs_that_say_nothing(tmp_path: Path) -> None:
    path = script(
        tmp_path, "mqsub -l A -c true -attr retries=7\nmqsub -l B -c true -attr backoff=3\nmqsub -l C -c true\n"
    )
    run(path, "--retries", "2", "--backoff", "1m", "--more-memory", "2")
    assert stored(tmp_path, "retries") == [7, 2, 2]
    with sqlite3.connect(tmp_path / ".headway/store.db") as db:
        rules = [rules for (rules,) in db.execute("SELECT rules FROM nodes ORDER BY job")]
    assert rules == [
        '{"back_off": 60.0, "more_memory": 2.0}',
        '{"back_off": 3.0, "more_memory": 2.0}',
        '{"back_off": 60.0, "more_memory": 2.0}',
    ]


def test_another_run_can_give_more_and_the_workflow_is_still_the_same(tmp_path: Path) -> None:
    path = script(tmp_path, f"mqsub -l A -c '{THIRD}'\n")
    assert run(path, code=3)["attempts"] == 1
    found = run(path, "--retry", "--retries", "1", "--backoff", "0.2")
    assert (found["done"], found["attempts"]) == (1, 3)
    assert waits(tmp_path)[1] >= 0.2
    assert run(path, "--retries", "0")["done"] == 1 and stored(tmp_path, "retries") == [0]


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    for words, said in (
        (("--backoff", "soon"), "duration"),
        (("--more-memory", "0.5"), "0.5"),
        (("--retries", "-1"), "-1"),
    ):
        done = headway("run", str(path), *words)
        assert done.returncode == 2 and said in done.stderr
    done = headway("show", str(script(tmp_path, "mqsub -l A -c true -attr more_memory=x\n", "v.sh")))
    assert done.returncode == 2 and "factor" in done.stderr


def test_formats_keep_it_or_say_that_they_do_not(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true -attr retries=2 -attr backoff=90 -attr more_memory=1.5\n")
    for name in ("makefile", "flat", "wfformat"):
        out = tmp_path / f"out-{name}"
        assert answer("convert", str(path), "--to", name, "-o", str(out))["lost"] == []
        attributes = answer("show", str(out), "--format", name, "--job", "A")["attributes"]
        assert (attributes["retries"], attributes["backoff"], attributes["more_memory"]) == ("2", "90", "1.5")
    lost = answer("convert", str(path), "--to", "dagman", "-o", str(tmp_path / "w.dag"))["lost"]
    assert any("wait and grow" in what for what in lost)
