"""Fig. 4 of the PRIO paper: how many jobs are eligible under several orders, and the difference between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO

from headway.model.errors import UsageError, not_installed, shown

KINDS = ("svg", "png", "pdf")


def kind_of(path: str) -> str:
    """The kind of picture that a file's name asks for."""
    kind = path.rpartition(".")[2].lower()
    if kind not in KINDS:
        raise UsageError(f"no picture can be written to {shown(path)}.", f"Let its name end in {', '.join(KINDS)}.")
    return kind


def picture(title: str, curves: Mapping[str, Sequence[int]], kind: str) -> bytes:
    """E(t) of each order above; below, the first one's less that of each other. The same input gives the same bytes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise not_installed("a picture", "matplotlib") from None
    first, *others = curves
    with matplotlib.rc_context({"svg.hashsalt": "headway", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 6 if others else 3.5), layout="constrained")
        axes = figure.subplots(2 if others else 1, 1, sharex=True, squeeze=False)[:, 0]
        for name, curve in curves.items():
            axes[0].step(range(len(curve)), curve, where="post", label=name, linewidth=1)
        axes[0].set(title=title, ylabel="eligible jobs")
        axes[0].legend()
        if others:
            axes[1].axhline(0, color="gray", linewidth=0.5)
            for name in others:
                difference = [ours - theirs for ours, theirs in zip(curves[first], curves[name], strict=True)]
                axes[1].step(range(len(difference)), difference, where="post", label=f"{first} - {name}", linewidth=1)
            axes[1].set(ylabel="difference")
            axes[1].legend()
        axes[-1].set(xlabel="executed jobs")
        drawn = BytesIO()
        figure.savefig(drawn, format=kind, metadata={"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind))
    return drawn.getvalue()
