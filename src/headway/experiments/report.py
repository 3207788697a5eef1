"""A report on a paper's evaluation done again: claims with what was found here, tables, figures; Markdown and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.model.errors import HeadwayError, not_installed
from headway.model.record import asdict, field, mutable, record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WORDS = {True: "yes", False: "**no**", None: "open"}


@record
class Claim:
    """What the paper says, what was found here, and whether the one bears the other out; None: it cannot be told."""

    id: str
    paper: str
    here: float | str
    holds: bool | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    variant_of: str = ""  # the claim that this one is, under other assumptions

    def row(self) -> list[str]:
        """Its row in a table."""
        here = self.here if isinstance(self.here, str) else f"{self.here:.3f}"
        if self.low is not None and self.high is not None:
            here += f" [{self.low:.3f}, {self.high:.3f}]"
        return [self.id, self.paper, here, _WORDS[self.holds], self.note]


@mutable
class Report:
    """Written once, at the end."""

    title: str
    made_by: str  # the command
    parts: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    source: str = "paper"  # whose claims they are

    def say(self, *paragraphs: str) -> None:
        self.parts += paragraphs

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
        self.parts.append("\n".join(lines))

    def claim_table(self, claims: Sequence[Claim]) -> None:
        """A table of claims, which count for the whole report as well."""
        self.claims += claims
        self.table(["claim", self.source, "here", "holds?", "in words"], [claim.row() for claim in claims])

    def answer(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {"claims": [asdict(claim) for claim in self.claims], **self.data}

    def write(self, folder: Path, name: str = "report") -> None:
        """report.md and report.json, or files of another name, each whole or not at all."""
        from headway.live.read import write_whole

        held = sum(claim.holds is True for claim in self.claims)
        broken = sum(claim.holds is False for claim in self.claims)
        told = (
            f"{held} of {len(self.claims)} claims hold, {broken} do not, {len(self.claims) - held - broken} are open."
        )
        text = "\n\n".join([f"# {self.title}", f"Made by `{self.made_by}`. {told}", *self._plainly(), *self.parts])
        write_whole(str(folder / f"{name}.md"), text + "\n")
        write_whole(str(folder / f"{name}.json"), _spread({"schema": 1, **self.answer()}) + "\n")

    def _plainly(self) -> Iterator[str]:
        """What does not hold, before everything else."""
        for holds, head in ((False, "What does not hold here:"), (None, "What this run leaves open:")):
            some = [claim for claim in self.claims if claim.holds is holds]
            ids = {claim.id for claim in some}
            some = [claim for claim in some if claim.variant_of not in ids]
            if some:
                lines = [
                    f'- {claim.id}: the {self.source} says "{claim.paper}", here it is {claim.row()[2]}.'
                    for claim in some
                ]
                yield "\n".join([head, "", *lines])


def make(folder: Path) -> None:
    """The folder that a report goes to, told before any time is spent if it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadwayError(f"{folder}: cannot be made: {error.strerror}.", "Choose another place with -o.") from None


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _spread(answer: Mapping[str, Any]) -> str:
    """JSON with a line for each member, and for each item of a list at the top: fit to be compared."""
    members = []
    for key, value in answer.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        elif isinstance(value, dict):
            text = (
                "{\n  " + ",\n  ".join(f"{json.dumps(name)}: {json.dumps(it)}" for name, it in value.items()) + "\n }"
            )
        members.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}"


def drawing_board() -> Any:
    """Matplotlib, set so that the same figure is the same file."""
    try:
        import matplotlib
    except ImportError:
        raise not_installed("a picture", "matplotlib") from None
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "headway", "svg.fonttype": "none", "font.size": 8})
    from matplotlib import pyplot

    return pyplot


def save(figure: Figure, path: Path) -> None:
    """Writes a figure as SVG, aside and then into place."""
    aside = path.with_suffix(".part")
    figure.savefig(aside, format="svg", metadata={"Date": None, "Creator": None})
    aside.write_text(re.sub(r"(\d\.\d\d)\d+", r"\1", aside.read_text()))  # a hundredth of a point is enough
    aside.replace(path)
