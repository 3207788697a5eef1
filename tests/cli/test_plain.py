"""Plain words of `headway run` are read without click, and mean what click makes of them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.commands.run import command
from headway.cli.commands.status import command as status
from headway.cli.fast_path import EDITED, SHARES, Options, plain, words
from headway.cli.fast_status import plain as plain_status
from headway.engine.edited import WAYS
from headway.live.home import folder
from headway.live.placeholder.launch import nested_command
from headway.model.messages import JobId, Lease, LeaseId, WorkflowId
from headway.model.record import fields


@pytest.fixture(autouse=True, scope="module")
def no_environment() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HEADWAY_ORDER", "HEADWAY_STORE", "HEADWAY_RESOURCES"):
            patch.delenv(name, raising=False)
        yield


def clicked(words: list[str]) -> Options | None:
    """What click makes of words; None if it refuses them."""
    try:
        with command.make_context("run", list(words)) as context:
            return Options(**context.params)
    except (click.ClickException, click.exceptions.Exit):
        return None


FLAGS = ["--fail-fast", "--retry", "--fresh", "--detach", "--json", "--always-make", "-B", "--dry-run"]
NAMES = ["--slots", "--order", "--store", "--sync", "--until", "--memory", "--in-place-of", "--help", "--retries", "-x"]
WORDS = [
    "w.dag",
    "Makefile",
    "-",
    "--",
    "",
    "1",
    "08",
    "0",
    "-1",
    "+3",
    "²",
    "1_0",
    " 2",
    "fifo",
    "auto",
    "FIFO",
    "full",
    "9" * 9,
    "9" * 10,
    "9" * 5000,
]
PIECES = st.one_of(
    st.sampled_from(FLAGS),
    st.sampled_from(NAMES),
    st.sampled_from(WORDS),
    st.builds("{}={}".format, st.sampled_from(FLAGS + NAMES), st.sampled_from(WORDS)),
)


@given(st.lists(PIECES, max_size=6))
def test_what_plain_words_mean_is_what_click_makes_of_them(words: list[str]) -> None:
    found = plain(words)
    assert found is None or found == clicked(words)


@pytest.mark.parametrize(
    "text",
    [
        "w.dag",
        "w.dag --slots 2 --store there --sync full",
        "--json --order=fifo w.dag --retry -B",
        "w --store=a=b --store c",
    ],
)
def test_most_calls_are_plain(text: str) -> None:
    found = plain(text.split())
    assert found is not None and found == clicked(text.split())


@pytest.mark.parametrize(
    "text",
    [
        *("", "a.dag b", "a.dag --slots", "a.dag --slots two", "a.dag --order none", "a.dag --sync half", "- --slot 2"),
        *("--array list -- echo {}", "a.dag --until b", "-h", "a.dag --json=yes"),
    ],
)
def test_what_is_not_plain_is_left_to_click(text: str) -> None:
    assert plain(text.split()) is None


def test_an_environment_that_has_a_say_is_left_to_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_STORE", "elsewhere")
    assert plain(["w.dag"]) is None
    read = clicked(["w.dag"])
    assert read is not None and read.store == "elsewhere"


def test_a_plain_run_imports_neither_click_nor_typing_nor_what_only_people_ask_of_a_store(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    parts = ("steering", "watching", "places", "history", "views", "database", "consequences")
    dear = {"click", "typing", "dataclasses", *(f"headway.live.store.{part}" for part in parts)}
    code = (
        "import os, sys; sys.argv = ['headway', 'run', 'w.sh']; end = os._exit\n"
        f"def told(code):\n    print(code, {dear} & set(sys.modules), flush=True)\n    end(code)\n"
        "os._exit = told\nfrom headway.cli import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 set()", done.stderr


@pytest.mark.parametrize("digits", [10, 400, 5000])
def test_more_slots_than_anybody_has_are_refused_by_a_sentence(tmp_path: Path, digits: int) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    words = [sys.executable, "-m", "headway", "run", "w.sh", "--slots", "9" * digits]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Invalid value for '--slots'" in done.stderr


DEFAULTS = {"group": None, "place": None, "wanted": None, "as_json": False, "show_all": False, "watch": None}


@given(
    st.lists(
        st.sampled_from(["--json", "--all", "--store", "--workflow", "--store=x", "--workflow=", "--watch", "--help"])
        | st.sampled_from(["one", "a/b", "", "-", "--", "-x", "--js", "--all=1", "3", "x=y", "--store x"]),
        max_size=5,
    )
)
def test_plain_words_of_status_mean_what_click_makes_of_them(words: list[str]) -> None:
    found = plain_status(words)
    if found is not None:
        with status.make_context("status", list(words)) as context:
            assert {**DEFAULTS, **found} == context.params


def test_status_is_shown_without_click(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    subprocess.run([sys.executable, "-m", "headway", "run", "w.sh"], cwd=tmp_path, check=True, capture_output=True)
    code = (
        "import os, sys\nleave = os._exit\n"
        "def told(code):\n    print('click' in sys.modules, 'typing' in sys.modules); sys.stdout.flush(); leave(code)\n"
        "os._exit = told\nfrom headway.cli import main\nmain(['status'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "its job is done" in done.stdout and done.stdout.splitlines()[-1] == "False False"


def test_every_option_is_called_as_its_field_says() -> None:
    there = {one.name: set(one.opts) for one in command.params if isinstance(one, click.Option)}
    assert there == {name: set(words(name)) for name in fields(Options) if name not in ("workflow", "arguments")}


def test_what_holds_without_an_option_is_the_same_with_click_and_without() -> None:
    assert clicked(["w.dag"]) == Options("w.dag") == plain(["w.dag"])


def test_the_values_of_options_are_those_that_the_layers_below_know() -> None:
    assert EDITED == WAYS and tuple(folder.SHARES) == SHARES


def test_click_understands_what_the_runner_says_to_run_a_sub_dag() -> None:
    lease = Lease(LeaseId(7), WorkflowId(1), JobId(2), "S", 2, 1, "")
    said = shlex.split(nested_command("inner.dag", lease, 3, {"gpu": 1}))
    given = clicked(said[said.index("run") + 1 :])
    assert given == Options("inner.dag", place="1.2", edited="rerun", slots=3, resources=("gpu=1",), retry=True)
