"""Headway on a machine that has nothing yet, as its newcomers have it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.infra.root import needs_root
from tests.shell import ROOT


def setup(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [folder / "scripts" / words[0], *words[1:]],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def copied(folder: Path) -> Path:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def test_the_versions_that_judge_are_the_same_everywhere() -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    pinned = {_plain(name): version for name, version in pinned.items()}
    tools = {
        "ruff",
        "mypy",
        "import-linter",
        "pytest",
        "pytest-xdist",
        "hypothesis",
        "numpy",
        "numba",
        "psycopg",
        "pip",
    }
    assert tools <= set(pinned)
    found = {_plain(one.name): one.version for one in distributions()}
    assert {name: found[name] for name in found if name in pinned} == {
        name: version for name, version in pinned.items() if name in found
    }
    assert tools <= set(found)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_missing_is_told_an_ordinary_user_at_once_in_one_line(tmp_path: Path) -> None:
    for program in ("sh", "dirname", "ls"):
        (tmp_path / program).symlink_to(str(shutil.which(program)))
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    done = setup(ROOT, "setup", "test", PATH=str(tmp_path))
    assert done.returncode == 1
    lines = [line.strip() for line in done.stderr.splitlines() if "apt-get" in line]
    [line] = [line for line in lines if line.startswith("sudo apt-get install ")]
    assert lines == [line]
    assert {"python3", "python3-venv", "make", "git"} <= set(line.split())
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        assert "postgresql" in line.split()
    assert "debootstrap" not in line  # of no use without root


@pytest.mark.slow
def test_a_folder_may_be_moved_or_copied_after_set_up(tmp_path: Path) -> None:
    folder = copied(tmp_path / "first")
    done = setup(folder, "setup")
    assert done.returncode == 0, done.stderr
    steps = [line for line in done.stderr.splitlines() if line.startswith("setup: ")]
    assert "making .venv" in steps[0] and "installing Headway" in steps[-2] and steps[-1] == "setup: done"
    assert setup(folder, "setup").stderr == ""
    moved = folder.rename(tmp_path / "another place")
    # No package can be fetched now: what is there must do.
    again = setup(moved, "headway", "run", f"{moved}/examples/words/Makefile", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert again.returncode == 0, again.stderr
    assert "moved or copied" in again.stderr and "jobs done" in again.stderr
    second = Path(shutil.copytree(moved, tmp_path / "third", symlinks=True))
    (second / "src/headway/__init__.py").open("a").write('__version__ = "here"\n')
    assert setup(second, "setup").returncode == 0
    for program in ("headway", "mqsub"):
        for place, version in ((moved, ""), (second, "here")):
            words = ["--version"] if program == "headway" else ["-h"]
            said = subprocess.run([place / ".venv/bin" / program, *words], capture_output=True, text=True, check=True)
            assert program == "mqsub" or version in said.stdout
            assert program == "mqsub" or (version == "here") == ("here" in said.stdout)


@pytest.mark.slow
@pytest.mark.bare
@pytest.mark.parametrize("words", [["12"], ["13", "--user"]], ids=["Debian 12, root", "Debian 13, ordinary user"])
def test_both_commands_of_the_readme_work_on_a_bare_machine(words: list[str]) -> None:
    needs_root("it makes a system of its own.")
    done = subprocess.run(
        [ROOT / "scripts/test-bare", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-5000:]}\n{done.stderr[-1500:]}"
    assert done.stderr.splitlines()[-1].endswith("both commands work")
