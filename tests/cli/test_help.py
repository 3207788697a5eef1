"""What `--help` says is what the README says."""

from __future__ import annotations

import re

from tests.shell import ROOT, headway

_LINE = re.compile(r"^ {4,}(headway \S.*?) {2,}(\S.*)$", re.MULTILINE)


def test_the_commands_that_help_and_readme_both_show_mean_the_same() -> None:
    readme = dict(_LINE.findall((ROOT / "README.md").read_text()))
    said = dict(_LINE.findall(headway("--help").stdout))
    both = said.keys() & readme.keys()
    assert len(both) >= 5
    assert {line: said[line] for line in both} == {line: readme[line] for line in both}


def test_every_command_of_the_readme_is_in_the_list() -> None:
    names = set(re.findall(r"^    headway ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    listed = set(re.findall(r"^  ([a-z]+) ", headway("--help").stdout.partition("Commands:")[2], re.MULTILINE))
    assert names <= listed
