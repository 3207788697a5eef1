"""The README on the clone itself; tests/test_documents.py runs all of its command lines in a sandbox."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from collections import Counter
from pathlib import Path

import pytest

from headway import __version__
from tests.shell import ROOT

COMMANDS = re.findall(r"^(\./scripts/.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)


def test_the_readme_has_two_commands_and_ci_runs_the_second() -> None:
    assert [command.split()[0] for command in COMMANDS] == ["./scripts/headway", "./scripts/test"]
    assert "scripts/test" in (ROOT / ".ci/run").read_text()


def test_the_first_command_runs_a_real_example() -> None:
    done = subprocess.run(["sh", "-c", f"{COMMANDS[0]} --fresh"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "jobs done" in done.stderr
    texts = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    word, count = Counter(re.findall("[a-z]+", texts.lower())).most_common(1)[0]
    assert (ROOT / "examples/words/out/top.txt").read_text().splitlines()[0] == f"{count} {word}"


def test_the_readme_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [named] = re.findall(r"^pip install 'headway\[(.+?)\]'", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert set(named.split(",")) == set(extras)


@pytest.mark.parametrize(
    "name",
    [path.name for path in sorted((ROOT / "examples").iterdir()) if path.is_file()]
    + ["words/Makefile", "checkers/endgames.py"],
)
def test_every_example_can_be_shown(name: str) -> None:
    words = ["4"] if name in ("fig14.py", "checkers/endgames.py") else []
    done = subprocess.run(
        [sys.executable, "-m", "headway", "show", f"examples/{name}", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_pip_install_gives_the_commands(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv/bin"
    subprocess.run([programs / "pip", "install", "--quiet", "--disable-pip-version-check", ROOT], check=True)
    for command, expected in (
        (["headway", "--version"], __version__),
        (["mqsub", "-h"], "mqsub"),
        (["mqtranslate", "-h"], "mqtranslate"),
        *(
            ([name, "--help"], f"Usage: {name}")
            for name in ("mqnextjob", "mqgetjobcommand", "mqgetjobattribute", "mqdonejob")
        ),
        (["headway", "placeholder", "--script"], "#!/bin/sh\n# placeholder.sh: "),
    ):
        done = subprocess.run([programs / command[0], *command[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and expected in done.stdout
    (tmp_path / "x.dag").write_text("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n")
    done = subprocess.run([programs / "headway", "show", "x.dag"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "A → B" in done.stdout
