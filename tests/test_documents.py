"""Every command line of the README and of docs/ works as it stands, each document from its top to its end."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from headway.cli.app import COMMANDS
from tests.shell import ROOT

# Command lines that are not run: what they have in them, and why.
EXCEPT = {
    "./scripts/test": "it is what runs this test",
    "pip install": "an installation; tests/journeys installs Headway",
    "--full": "it takes hours; tests/experiments does the same on little",
    "--site ": "it needs other hosts; tests/sites has them",
    "headway sites st": "it needs other hosts; tests/sites/test_standing.py has them",
    "postgresql://": "it needs a server; tests/contracts has one",
    "ssh old ": "it needs a host without Python; tests/sites has one",
    "headway serve": "it stays until it is stopped; tests/contracts/test_serve.py",
    "headway placeholder": "it stays until it is stopped; tests/contracts/test_placeholders.py",
    "condor_submit_dag": "it needs a pool of HTCondor's; tests/htcondor has one",
}
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = r"(?:headway|mq[a-z]+|pip|make|condor_\w+|python3?|\./scripts/\w+)"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w./-]+\.\w+)\b")  # the first line of a block that is a file
OUTPUTS = ".shown"  # a folder of the sandbox


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The kind and the text of all that is fenced."""
    for found in FENCED.finditer(text):
        yield found[1], found[2]


def runs(line: str) -> bool:
    return not any(part in line for part in EXCEPT)


def shown(block: str) -> list[tuple[str, str]]:
    """Command lines that begin with a dollar sign, each with the output that is shown below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def as_shown(output: str) -> re.Pattern[str]:
    """An output in which an ellipsis stands for anything."""
    return re.compile(".*".join(re.escape(part) for part in output.strip().split("…")), re.DOTALL)


def script(text: str, sandbox: Path) -> tuple[str, list[str]]:
    """A document as a shell script, and the outputs that it must print, in order. Files that it shows are made."""
    lines = ["set -e"]
    outputs: list[str] = []
    for kind, block in blocks(text):
        file = NAMED.match(block)
        if file and (sandbox / file[1]).exists():
            assert (sandbox / file[1]).read_text() == block, f"{file[1]} is shown otherwise than it is"
        elif file:
            (sandbox / file[1]).write_text(block)
        elif kind == "sh":
            lines += filter(runs, block.splitlines())
        elif kind == "console":
            for command, output in shown(block):
                lines.append(f"{{ {command}\n}} > {sandbox / OUTPUTS}/{len(outputs)} 2>&1")
                outputs.append(output)
    return "\n".join(lines), outputs


@pytest.fixture
def sandbox(tmp_path: Path) -> Path:
    """A folder that looks like a clone of the project to one who follows its README."""
    kept = shutil.ignore_patterns("out", ".headway", "__pycache__")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=kept)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/headway").write_text(f'#!/bin/sh\nexec {shlex.quote(str(ROOT))}/scripts/headway "$@"\n')
    (tmp_path / "scripts/headway").chmod(0o755)
    (tmp_path / OUTPUTS).mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "document",
    [pytest.param(path, id=names(path)) for path in DOCUMENTS if re.search("^```(sh|console)", path.read_text(), re.M)],
)
def test_the_command_lines_of_a_document_work_from_its_top_to_its_end(document: Path, sandbox: Path) -> None:
    text, outputs = script(document.read_text(), sandbox)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    keep = {name: value for name, value in os.environ.items() if name != "HEADWAY_STORE"}
    environment = {**keep, "PATH": path, "HOME": str(sandbox)}
    done = subprocess.run(
        ["sh", "-x"], input=text, cwd=sandbox, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    printed = [(sandbox / OUTPUTS / str(at)) for at in range(len(outputs))]
    last = "".join(one.read_text() for one in printed if one.exists())[-1000:]
    assert done.returncode == 0, f"{names(document)}: {done.stderr[-2000:]}\n{last}"
    for one, output in zip(printed, outputs, strict=True):
        assert as_shown(output).search(one.read_text()), f"shown:\n{output}\nprinted:\n{one.read_text()}"


@pytest.mark.parametrize("document", [pytest.param(path, id=names(path)) for path in DOCUMENTS])
def test_no_command_line_stands_where_it_is_not_run(document: Path) -> None:
    text = document.read_text()
    assert not re.findall(rf"^(?: {{4}}|\t)\$? ?{PROGRAMS} .*", FENCED.sub("", text), re.MULTILINE)
    for kind, block in blocks(text):
        assert kind in ("sh", "console") or not re.findall(rf"^\$? ?{PROGRAMS} .*", block, re.MULTILINE)


def test_every_exception_is_one() -> None:
    texts = "\n".join(block for path in DOCUMENTS for kind, block in blocks(path.read_text()) if kind == "sh")
    assert [part for part in EXCEPT if part not in texts] == []


def command(name: str) -> click.Command:
    module, _, part = COMMANDS[name][0].partition(":")
    found: click.Command = getattr(import_module(f"headway.cli.commands.{module}"), part or "command")
    return found


def options(words: list[str]) -> set[str]:
    """What the command that a line begins with can be given, its subcommands included."""
    found = command(words[0])
    parts = [found, *(found.commands.values() if isinstance(found, click.Group) else ())]
    known = {
        name for part in parts for parameter in part.params for name in (*parameter.opts, *parameter.secondary_opts)
    }
    return known | {"--help"}


@pytest.mark.parametrize("document", [pytest.param(path, id=names(path)) for path in DOCUMENTS])
def test_commands_and_options_that_a_sentence_names_exist(document: Path) -> None:
    wrong = []
    for span in re.findall(r"`headway ([a-z]+(?: [^`]*)?)`", FENCED.sub("", document.read_text())):
        words = span.split(" -- ")[0].split()
        given = {one for word in words for one in re.findall(r"--[a-z][a-z-]*", word)}
        if words[0] not in COMMANDS or not given <= options(words):
            wrong.append(span)
    assert wrong == []


def test_the_architecture_names_every_module_of_the_real_world() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    live = text[text.index("\n  live/") : text.index("\n  sim/")]
    rooms = re.split(r"\n    (?=\w+/ )", live)  # the first is what stands before the rooms
    said = {room.partition("/")[0]: room for room in rooms[1:]} | {"live": rooms[0]}
    missing = [
        str(module.relative_to(ROOT))
        for module in sorted((ROOT / "src/headway/live").rglob("*.py"))
        if module.stem != "__init__" and not re.search(rf"(?<![\w./]){module.name}\b", said.get(module.parent.name, ""))
    ]
    assert missing == []


def test_an_output_that_is_not_printed_is_found() -> None:
    assert as_shown("a\n…\nd\n").search("a\nb\nc\nd\n")
    assert not as_shown("a\n…\ne\n").search("a\nb\nc\nd\n")
    assert shown("$ one\n1\n$ two\n") == [("one", "1\n"), ("two", "")]
