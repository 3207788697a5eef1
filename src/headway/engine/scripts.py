"""The command line of a node's script: DAGMan's words in it ($JOB, $RETURN, …) replaced by what they stand for.

DAGMan starts scripts without a shell: words are what blanks part, and nothing else in them has a meaning. A script
without a slash in its name is looked for in the current directory first, as there.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from headway.model.job import Script

Facts = dict[str, Callable[[], object]]  # asked only for the words that are there


def command_line(script: Script, facts: Facts) -> str:
    """A line for sh. A word that stands for nothing stays as it is."""
    words = [_meant(word, facts) for word in script.command.split()]
    line = f"exec {shlex.join(words)}"
    if "/" not in words[0]:
        here = shlex.quote(f"./{words[0]}")
        line = f"if [ -f {here} ]; then exec {here} {shlex.join(words[1:])}; else {line}; fi"
    if script.debug is None:
        return line
    file, what = script.debug
    to = {"STDOUT": ">>{}", "STDERR": "2>>{}", "ALL": ">>{} 2>&1"}[what].format(shlex.quote(file))
    return f"( {line} ) {to}"


def _meant(word: str, facts: Facts) -> str:
    """Words may be written in any case of letters."""
    meant = facts.get(word[1:].upper()) if word[:1] == "$" else None
    return word if meant is None else str(meant())
