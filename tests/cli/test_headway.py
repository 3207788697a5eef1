from __future__ import annotations

import subprocess
import sys

import pytest

from headway import __version__
from headway.cli import COMMANDS
from tests.shell import answer, headway


def test_help_lists_every_command() -> None:
    done = headway("--help")
    assert done.returncode == 0 and all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command: str) -> None:
    done = headway(command, "--help")
    assert done.returncode == 0 and len(done.stdout.splitlines()) > 5


def test_version() -> None:
    assert __version__ in headway("--version").stdout


def test_help_imports_no_model() -> None:
    """`headway --help` stays instant because it imports neither the model nor any format."""
    code = (
        "import sys, headway.cli\n"
        "try: headway.cli.headway.main(['--help'], prog_name='headway')\n"
        "except SystemExit: pass\n"
        "heavy = ('headway.model.w', 'headway.formats', 'headway.live')\n"
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_wrong_command_is_told_with_the_one_that_was_meant() -> None:
    done = headway("shwo")
    assert done.returncode == 2 and "show" in done.stderr and not done.stdout


def test_a_wrong_option_is_exit_code_2() -> None:
    assert headway("show", "--nonsense", "x").returncode == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = headway("completion", shell)
    assert done.returncode == 0 and "_HEADWAY_COMPLETE" in done.stdout


def test_formats_says_what_reading_runs() -> None:
    found = {format["name"]: format for format in answer("formats")["formats"]}
    assert found["makefile"]["runs_code"] and not found["dagman"]["runs_code"]
    assert "reading runs" in headway("formats").stdout
