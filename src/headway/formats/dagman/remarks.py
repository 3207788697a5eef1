"""What the PRIO tool has to tell: the first few of a kind one by one, the others as a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.formats.dagman.outline import Outline
from headway.formats.dagman.sharing import Sharing
from headway.model.errors import shown, unquoted

_TOLD = 5


class Remarks:
    """Sentences by kind, in the order the kinds came up."""

    def __init__(self, before: Sequence[str]) -> None:
        self.before = list(before)
        self._kinds: dict[str, dict[str, None]] = {}

    def all(self) -> list[str]:
        told = list(self.before)
        for kind, sentences in self._kinds.items():
            told += list(sentences)[:_TOLD]
            if len(sentences) > _TOLD:
                told.append(f"{len(sentences) - _TOLD} more {kind}.")
        return told

    def drop(self) -> None:
        """Forgets what the reader of the DAG said: it matters to those who want priorities."""
        self.before = []

    def _say(self, kind: str, sentence: str) -> None:
        self._kinds.setdefault(kind, {})[sentence] = None

    def copies(self, counts: Mapping[str, int]) -> None:
        for file, count in counts.items():
            self._say(
                "files are spliced in more than once",
                f"{shown(file)} is spliced in {count} times: its nodes get the highest priority of their copies.",
            )

    def subdag(self, node: str, file: str, priority: int, vars_style: bool) -> None:
        self._say(
            "SUBDAG nodes",
            f"SUBDAG node {shown(node)} has no submit file to change, so --style vars gives it no priority."
            if vars_style
            else f"HTCondor adds the {priority} of SUBDAG node {shown(node)} to each node of {shown(file)}, "
            "which is not changed here: call headway prio on it too if its own order matters.",
        )

    def own_lines(self, file: str, shape: Outline, vars_style: bool) -> None:
        """The user's own words on what Headway's lines, which come later, say too."""
        place = unquoted(file)
        for line in shape.variables if vars_style else shape.priorities:
            self._say("such lines are overruled", f"{place}:{line}: Headway's lines at the end overrule this one.")
        if vars_style:
            for line in shape.priorities:
                self._say(
                    "such PRIORITY lines",
                    f"{place}:{line}: this line, not --style vars, decides what DAGMan submits first. Remove it.",
                )

    def submit_priority(self, file: str, line: int, vars_style: bool, comes_first: bool, is_inline: bool) -> None:
        place = f"{unquoted(file)}:{line}: this priority"
        if vars_style and comes_first:
            self._say("such priorities are overruled", f"{place} is overruled by Headway's line below it.")
        elif vars_style:
            self._say("such priorities overrule", f"{place} overrules Headway's line above it. Remove it.")
        elif is_inline:  # HTCondor 23.9 lets PRIORITY win over a description in the DAG file; others need not
            self._say("such priorities", f"{place} and the node's own both want to count. Remove it.")
        else:
            self._say(
                "submit files have a priority of their own",
                f"{place} defeats what DAGMan hands on: HTCondor does not see the nodes' priorities, though DAGMan "
                "still submits in their order. Remove it.",
            )

    def shared(self, sharing: Sharing, files: Sequence[str]) -> None:
        for file in files:
            if others := sharing.others(file):
                self._say("files are used by other DAGs too", f"{shown(file)} is used by {_listed(others)} too.")

    def kept(self, file: str, others: Sequence[str]) -> None:
        self._say(
            "submit files keep their line", f"{shown(file)} keeps Headway's line: {_listed(others)} relies on it."
        )


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(map(shown, names[:3]))
    return some if len(names) <= 3 else f"{some} and {len(names) - 3} more"
