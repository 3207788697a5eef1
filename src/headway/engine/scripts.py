"""The command line of a node's script: DAGMan's words in it ($JOB, $RETURN, …) replaced by what they stand for.

DAGMan starts scripts without a shell: words are what blanks part, and nothing else in them has a meaning. A script
without a slash in its name is looked for in the current directory first, as there.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

Facts = dict[str, Callable[[], object]]  # asked only for the words that are there


def command_line(script: str, facts: Facts) -> str:
    """A line for sh. A word that stands for nothing stays as it is."""
    words = [str(facts[word[1:]]()) if word[:1] == "$" and word[1:] in facts else word for word in script.split()]
    line = shlex.join(words)
    if not words or "/" in words[0]:
        return f"exec {line}"
    return f"if [ -f {shlex.quote('./' + words[0])} ]; then exec ./{line}; else exec {line}; fi"
