"""What `--help` says is what the README says."""

from __future__ import annotations

import re

from tests.shell import ROOT, headway

# The last command of a line, its options without values, and what is said of it.
_README = re.compile(r"^.*\bheadway ([a-z]+)(.*?) +# (\S.*)$", re.MULTILINE)
_HELP = re.compile(r"^ {4,}headway ([a-z]+)(.*?) {2,}(\S.*)$", re.MULTILINE)


def lines(pattern: re.Pattern[str], text: str) -> dict[tuple[str, ...], str]:
    return {(verb, *re.findall(r"--[a-z-]+", rest)): said for verb, rest, said in pattern.findall(text)}


def test_the_commands_that_help_and_readme_both_show_mean_the_same() -> None:
    readme = lines(_README, (ROOT / "README.md").read_text())
    said = lines(_HELP, headway("--help").stdout)
    both = said.keys() & readme.keys()
    assert len(both) >= 5
    assert {line: said[line] for line in both if line != ("run",)} == {
        line: readme[line] for line in both if line != ("run",)
    }


def test_every_command_of_the_readme_is_in_the_list() -> None:
    names = set(re.findall(r"^(?:\$ )?headway ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    listed = set(re.findall(r"^  ([a-z]+) ", headway("--help").stdout.partition("Commands:")[2], re.MULTILINE))
    assert names and names <= listed
