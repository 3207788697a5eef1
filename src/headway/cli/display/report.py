"""What `headway show` says of a workflow, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from headway.cli.display.terminal import harmless
from headway.model.quantities import duration


def text(answer: Mapping[str, Any]) -> str:
    """The report for people."""
    rows = [("workflow", f"{answer['name']} ({answer['format']})")]
    kinds = Counter(answer["special"].values())
    extra = "".join(f", {count} of them {kind}" for kind, count in kinds.items())
    rows.append(("jobs", f"{answer['jobs']:,}{extra}"))
    rows.append(("arcs", f"{answer['arcs']:,}"))
    if answer["groups"] != answer["jobs"]:
        rows.append(("groups", f"{answer['groups']:,}"))
    rows.append(("levels", f"{answer['levels']:,}"))
    rows.append(("width", f"{answer['width']:,}  {_bars(answer['level_sizes'])}"))
    path = answer["critical_path"]
    long = path["seconds"]
    rows.append(("critical path", f"{'' if long is None else long_duration(long) + ', '}{_trail(path['jobs'])}"))
    if answer["work_seconds"] is not None:
        rows.append(("work", long_duration(answer["work_seconds"])))
        minimal = answer["minimal_schedule"]
        rows.append(
            ("minimal schedule", f"{long_duration(minimal['seconds'])} on {minimal['concurrency']:,} processors")
        )
    counts = {name: value for name, value in answer["features"].items() if isinstance(value, int)}
    if counts:
        rows.append(("jobs with", ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in counts.items())))
    rows += [(name, _spelled(value)) for name, value in answer["features"].items() if name not in counts]
    if answer["dropped_dependencies"]:
        rows.append(("dropped", f"{answer['dropped_dependencies']} dependencies on groups never generated"))
    lines = [f"{name:<16}  {value}".rstrip() for name, value in rows]
    lines += [f"warning: {warning}" for warning in answer["warnings"]]
    return harmless("\n".join(lines))


def long_duration(seconds: float) -> str:
    """Seconds, and where they are many in larger units too."""
    return duration(seconds) if seconds < 99.5 else f"{seconds:,.0f} s ({duration(seconds)})"


def _spelled(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_spelled(content)}" for key, content in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_spelled(item) for item in value if item is not False)
    return str(value)


def _trail(jobs: list[str]) -> str:
    some = jobs if len(jobs) <= 8 else [*jobs[:4], "…", *jobs[-3:]]
    return f"{len(jobs):,} {'job' if len(jobs) == 1 else 'jobs'}: {' → '.join(some)}"


def _bars(sizes: list[int]) -> str:
    """Levels as a small bar chart; many levels are shown as the largest of each part."""
    if len(sizes) < 2:
        return ""
    most, room = max(sizes), 48
    parts = min(room, len(sizes))
    shares = [max(sizes[at * len(sizes) // parts : (at + 1) * len(sizes) // parts]) for at in range(parts)]
    return "".join("▁▂▃▄▅▆▇█"[min(7, (8 * share - 1) // most)] for share in shares)
