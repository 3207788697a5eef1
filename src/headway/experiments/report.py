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
    held: int | None = None  # in how many files it holds, where it was judged over several
    files: int | None = None
    unsure: int = 0  # files whose own interval is too wide to tell
    reason: str = ""  # why it does not hold

    def row(self) -> list[str]:
        """Its row in a table."""
        return [self.id, self.paper, self.told(), _WORDS[self.holds], self.note]

    def told(self) -> str:
        """What was found here, with its interval."""
        here = self.here if isinstance(self.here, str) else f"{self.here:.3f}"
        if self.low is not None and self.high is not None:
            here += f" [{self.low:.3f}, {self.high:.3f}]"
        return here

    def count(self) -> str:
        """In how many files it holds."""
        return "" if self.held is None else f"{self.held} of {self.files}" + f", {self.unsure} open" * (self.unsure > 0)


@mutable
class Report:
    """Written once, at the end."""

    title: str
    made_by: str  # the command
    parts: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    source: str = "paper"  # whose claims they are
    notes: bool = False  # whether claims are listed with their notes, where these say what a number is

    def say(self, *paragraphs: str) -> None:
        self.parts += paragraphs

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
        self.parts.append("\n".join(lines))

    def claim_table(self, claims: Sequence[Claim]) -> None:
        """A table of claims, which count for the whole report as well."""
        self.claims += claims
        head, rows = ["claim", self.source, "here", "holds?", "in words"], [claim.row() for claim in claims]
        if any(claim.files for claim in claims):
            head.insert(4, "files")
            rows = [[*row[:4], claim.count(), row[4]] for row, claim in zip(rows, claims, strict=True)]
        self.table(head, rows)

    def answer(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {"claims": [asdict(claim) for claim in self.claims], **self.data}

    def write(self, folder: Path, name: str = "report") -> None:
        """report.md and report.json, or files of another name, each whole or not at all."""
        from headway.live.answers import document
        from headway.live.reading.read import write_whole

        text = "\n\n".join(
            [f"# {self.title}", f"Made by `{self.made_by}`. {self._sum()}", *self._plainly(), *self.parts]
        )
        write_whole(str(folder / f"{name}.md"), text + "\n")
        write_whole(str(folder / f"{name}.json"), _spread(document(self.answer())) + "\n")

    def _sum(self) -> str:
        """How many claims hold; the same claims under other assumptions are counted apart."""
        if not self.claims:
            return "It judges no claims."
        own = [claim for claim in self.claims if not claim.variant_of]
        others = [claim for claim in self.claims if claim.variant_of]
        held, broken = (sum(claim.holds is holds for claim in own) for holds in (True, False))
        told = f"{held} of {len(own)} claims hold, {broken} do not, {len(own) - held - broken} are open."
        if others:
            told += f" Under other assumptions {sum(it.holds is True for it in others)} of {len(others)} hold."
        return told

    def _plainly(self) -> Iterator[str]:
        """What does not hold, before everything else: each claim, why, and under which other assumptions as well."""
        for holds, head in ((False, "What does not hold here:"), (None, "What this run leaves open:")):
            some = [claim for claim in self.claims if claim.holds is holds]
            ids = {claim.id for claim in some}
            said: dict[str, str] = {}  # reasons, and the claim that each was given for first
            lines = [self._line(claim, some, said) for claim in some if claim.variant_of not in ids]
            if lines:
                yield "\n".join([head, "", *lines])

    def _line(self, claim: Claim, others: Sequence[Claim], said: dict[str, str]) -> str:
        files = f"; it holds in {claim.held} of {claim.files} files" if claim.files else ""
        files += f" ({claim.unsure} alone are too noisy to tell)" if claim.unsure else ""
        note = f" ({claim.note})" if claim.note and self.notes else ""
        told = f'- {claim.id}: the {self.source} says "{claim.paper}", here it is {claim.told()}{note}{files}.'
        also = [f"{it.id.removeprefix(f'{claim.id}-')} ({it.told()})" for it in others if it.variant_of == claim.id]
        first = said.setdefault(claim.reason, claim.id)
        if claim.reason:
            told += f" {claim.reason}" if first == claim.id else f" The reason is that of {first}."
        return told + f" The same: {', '.join(also)}." * bool(also)


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
