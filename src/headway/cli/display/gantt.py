"""Draws a run: who ran when, and how many at once beside the minimal schedule (TrellisDAG's Figs 16 and 17)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.cli.display.chart import Bar, Chart, chart
from headway.cli.display.units import counted
from headway.live.reading.read import write_whole
from headway.live.store.views import Attempt, Web
from headway.model.errors import NotFoundError, UsageError, not_installed, shown, unquoted
from headway.model.quantities import duration
from headway.model.states import Step
from headway.model.timeline import Curve, averaged, peak

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".svg", ".png", ".pdf")
_COLOURS = {"done": "#0072b2", "failed": "#d55e00", "given back": "#999999", "running": "#56b4e9"}
_SCRIPT = "#cc79a7"
_MODEL = "#009e73"
_LOOK: dict[Any, Any] = {
    "text.parse_math": False,  # names are no formulas
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "headway",
}
_MANY = 3000  # bars beyond which they are drawn as dots, so that the file stays small
_CHANGES = 1200  # of a curve beyond which its mean in a few hundred parts is drawn
_ROWS = 36  # slots that are drawn at full height
_NAMED = 300  # bars of which the wide ones carry their job's name
_UNITS = ((120.0, 1.0, "seconds"), (7200.0, 60.0, "minutes"), (172_800.0, 3600.0, "hours"))


def checked(path: str) -> None:
    """Refuses a file of a kind that cannot be drawn, and says what is missing to draw."""
    if Path(path).suffix.lower() not in KINDS:
        raise UsageError(f"{shown(path)} is no kind of picture.", f"Give a name that ends in {', '.join(KINDS)}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise not_installed("--gantt", "matplotlib") from None


def draw(path: str, title: str, web: Web, attempts: Sequence[Attempt]) -> None:
    """Writes the picture, whole or not at all."""
    import matplotlib

    found = chart(web, attempts)
    if not found.bars:
        raise NotFoundError("there is nothing to draw: no job has begun.", "Run the workflow first.")
    kind, made = Path(path).suffix.lower().removeprefix("."), io.BytesIO()
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context(_LOOK), warnings.catch_warnings():  # letters that the font lacks are no news
        warnings.simplefilter("ignore")
        picture(found, title).savefig(made, format=kind, dpi=150, metadata=undated.get(kind))
    write_whole(path, made.getvalue(), "Choose another place.")


def picture(run: Chart, title: str) -> Figure:
    """The Gantt chart above; below, how many ran at once, and how many in the minimal schedule beside it."""
    from matplotlib.figure import Figure

    height = 0.9 + 0.24 * min(run.rows, _ROWS)
    figure = Figure(figsize=(11.0, height + 3.5), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[height, 2.5])
    _gantt(figure.add_subplot(grid[0, :]), run)
    left = figure.add_subplot(grid[1, 0])
    _curve(left, run.real, run.seconds, _COLOURS["done"], "this run", _unit(run.seconds))
    _mark(left, run)
    # One scale for both, as in the paper, unless one of them would be a mere line.
    alike = 0.2 * run.seconds <= run.minimal_seconds <= 5 * run.seconds and peak(run.minimal) <= 5 * peak(run.real)
    right = figure.add_subplot(grid[1, 1], sharex=left if alike else None, sharey=left if alike else None)
    unit = _unit(run.seconds if alike else run.minimal_seconds)
    _curve(right, run.minimal, run.minimal_seconds, _MODEL, "minimal schedule", unit)
    left.set_ylabel("jobs at once")
    if alike:
        left.set_ylim(0, 1.1 * max(peak(run.real), peak(run.minimal), 1))
        left.set_xlim(0, 1.005 * max(run.seconds, run.minimal_seconds, 1e-9) / unit[0])
    paused = f", {counted(len(run.pauses), 'pause')} left out (dotted)" if run.pauses else ""
    said = f"{unquoted(title)}: {counted(len(run.bars), 'attempt')} on {counted(run.rows, 'slot')}{paused}"
    figure.suptitle(said, fontsize=11)
    return figure


def _gantt(axes: Axes, run: Chart) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    unit, name = _unit(run.seconds)
    by_colour: dict[str, list[Bar]] = {}
    for bar in run.bars:
        by_colour.setdefault(_colour(bar.attempt), []).append(bar)
    many = len(run.bars) > _MANY
    edge = "white" if len(run.bars) <= _NAMED else "none"
    for colour, bars in by_colour.items():
        rare = len(bars) * 20 < len(run.bars)  # what is rare is drawn so that it is seen
        corners = [_corners(bar, unit) for bar in bars]
        shapes = PolyCollection(corners, facecolors=colour, edgecolors=colour if rare and many else edge)
        shapes.set_linewidth(0.3 if many else 0.6)
        shapes.set_rasterized(many)
        axes.add_collection(shapes)
    if len(run.bars) <= _NAMED:
        _names(axes, run, unit)
    _hosts(axes, run)
    axes.set_xlim(0, 1.005 * max(run.seconds, 1e-9) / unit)
    axes.set_xlabel(f"{name} since the first job began")
    _mark(axes, run)
    words = {_colour(bar.attempt): _word(bar.attempt) for bar in run.bars}
    patches = [Patch(facecolor=colour, label=word) for colour, word in sorted(words.items(), key=lambda pair: pair[1])]
    axes.legend(handles=patches, loc="lower right", bbox_to_anchor=(1, 1), ncol=len(patches), frameon=False)


def _hosts(axes: Axes, run: Chart) -> None:
    """The names of hosts beside their rows; where they are too many to name they are only counted."""
    middles, above, few = [], 0, len(run.hosts) <= _ROWS
    for _, rows in run.hosts:
        middles.append(above + rows / 2)
        above += rows
        if few and above < run.rows:
            axes.axhline(above, color="#bbbbbb", linewidth=0.6)
    axes.set_yticks(middles if few else [], [_cut(host) for host, _ in run.hosts] if few else [])
    if not few:
        axes.set_ylabel(counted(len(middles), "host"))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(run.rows, 0)


def _corners(bar: Bar, unit: float) -> list[tuple[float, float]]:
    (start, end), top, low = bar.span, bar.row + 0.08, bar.row + 0.92
    return [(start / unit, top), (end / unit, top), (end / unit, low), (start / unit, low)]


def _names(axes: Axes, run: Chart, unit: float) -> None:
    """The names of jobs on the bars that have room for them."""
    for bar in run.bars:
        start, end = bar.span
        name = unquoted(bar.attempt.name)
        if (end - start) / max(run.seconds, 1e-9) * 150 > len(name) + 1:
            axes.text(
                (start + end) / 2 / unit,
                bar.row + 0.52,
                name,
                color="white",
                fontsize=7,
                ha="center",
                va="center",
            )


def _curve(axes: Axes, curve: Curve, seconds: float, colour: str, what: str, scale: tuple[float, str]) -> None:
    """How many at once, as a filled line of steps; where changes are many, their mean."""
    from matplotlib.ticker import MaxNLocator

    unit, name = scale
    steps: Sequence[tuple[float, float]] = curve if len(curve) <= _CHANGES else averaged(curve, _CHANGES // 3)
    times, counts = [time / unit for time, _ in steps], [count for _, count in steps]
    axes.fill_between(times, counts, step="post", color=colour, alpha=0.35, linewidth=0)
    axes.plot(times, counts, drawstyle="steps-post", color=colour, linewidth=0.9)
    axes.set_title(f"{what}: {duration(seconds)}, at most {peak(curve):,} at once")
    axes.set_xlabel(name if steps is curve else f"{name} (the mean of each part)")
    axes.set_xlim(0, 1.005 * max(seconds, 1e-9) / unit)
    axes.set_ylim(0, 1.1 * max(peak(curve), 1))
    axes.grid(axis="y", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _mark(axes: Axes, run: Chart) -> None:
    """Lines where pauses were left out."""
    for pause in run.pauses:
        axes.axvline(pause / _unit(run.seconds)[0], color="#444444", linewidth=0.9, linestyle=":")


def _colour(attempt: Attempt) -> str:
    return _SCRIPT if attempt.outcome == "done" and attempt.step is not Step.MAIN else _COLOURS[attempt.outcome]


def _word(attempt: Attempt) -> str:
    return "script" if _colour(attempt) == _SCRIPT else attempt.outcome


def _unit(seconds: float) -> tuple[float, str]:
    """What to count time in: how many seconds it has, and its name."""
    for most, unit, name in _UNITS:
        if seconds < most:
            return unit, name
    return 86400.0, "days"


def _cut(host: str) -> str:
    """A host's name without its domain, if that is long."""
    name = unquoted(host)
    return name if len(name) <= 20 else name.partition(".")[0][:20]
