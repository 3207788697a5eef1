"""A small dag drawn with box-drawing characters, top to bottom.

Lines that meet in ┬ ┴ ├ ┤ ┼ or a corner are joined; a line that passes another does so under it: ─│─. So the drawing
can be read back without doubt, and a test does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from headway.cli.display.labels import SPACE, Cells, centred, label, without_prefix
from headway.cli.display.layers import Layers, Net, layered
from headway.model.dag import Dag

MOST_JOBS = 30
TALLEST = 60  # lines
_LENGTHS = (40, 28, 20, 16, 12, 10, 8, 6)  # of names, tried until the drawing is narrow enough
_SPACING = (3, 2)  # columns between two items of a layer: 3 and odd widths put things in the middle, 2 saves room
_PASSES = 12
_NUDGES = 60

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
GLYPHS = dict(zip(range(16), "   │ ┘┐┤ └┌├─┴┬┼", strict=True))


def drawing(dag: Dag, width: int = 100) -> str | None:
    """The dag for a terminal of this width, or None where it does not fit.

    Jobs stand on their levels and milestones are seen through. Arcs that others imply are left out (this is the
    transitive reduction), and a last line says how many: the order shown is the same, and far easier to see.
    """
    if not 0 < dag.job_count <= MOST_JOBS:
        return None
    layers = layered(dag)
    names = [dag.names[node] for node in layers.jobs]
    brief = without_prefix(names)
    for length, between in product(_LENGTHS, _SPACING):
        labels = [label(name, length) for name in (names if length == _LENGTHS[0] else brief)]
        if len({"".join(cells) for cells in labels}) < len(set(names)):
            return None
        lines = _compact(_Sheet(layers, labels, between).lines(), between)
        if lines is not None and len(lines) + bool(layers.hidden) <= TALLEST and len(lines[0]) <= width:
            break
    else:
        return None
    text = ["".join(line).replace(SPACE, " ").rstrip() for line in lines]
    if layers.hidden:
        arcs = "1 arc that others imply is" if layers.hidden == 1 else f"{layers.hidden} arcs that others imply are"
        text.append(f"({arcs} not drawn)")
    return "\n".join(text)


# --- places ----------------------------------------------------------------------------------------------------


class _Sheet:
    """Where everything stands, and the lines between."""

    def __init__(self, layers: Layers, labels: Sequence[Cells], between: int) -> None:
        self.layers = layers
        self.between = between
        self.ports: dict[tuple[Net, int], int] = {}  # columns from an item's left end to where a net meets it
        least = [
            2 * max(len(layers.above.get(at, ())), len(layers.below.get(at, ())), 1) - 1 for at in range(len(labels))
        ]
        if any(len(cells) < room for cells, room in zip(labels, least, strict=True)):
            labels = [["[", *centred(cells, room - 2), "]"] for cells, room in zip(labels, least, strict=True)]
        self.labels = [centred(cells, len(cells) | (between == 3)) for cells in labels]
        self.x: dict[int, float] = {}  # the left end of each item
        for row in layers.rows:
            for item, shift in zip(row, self.shifts(row), strict=True):
                self.x[item] = shift

    def size(self, item: int) -> int:
        return 1 if self.layers.wire(item) else len(self.labels[item])

    def shifts(self, row: list[int]) -> list[int]:
        """The left ends of a row's items where they stand as close as they may."""
        found = [0]
        for item in row:
            found.append(found[-1] + self.size(item) + self.between)
        return found[:-1]

    def column(self, net: Net, item: int) -> float:
        return self.x[item] + self.ports[net, item]

    def lines(self) -> list[Cells] | None:
        """The drawing, or None if some lines cannot be laid."""
        for _ in range(2):  # which net is left of which at an item depends on where the others stand, and they on it
            self.settle_ports()
            self.settle_items()
        self.straighten()
        for _ in range(_NUDGES):
            found = [self.tracks(gap) for gap in self.layers.gaps]
            stuck = next((at for at, tracks in enumerate(found) if tracks is None), None)
            if stuck is None:
                return self.painted([tracks for tracks in found if tracks is not None])
            self.nudge(stuck)
        return None

    def settle_ports(self) -> None:
        for nets_of, far in ((self.layers.above, "tops"), (self.layers.below, "bottoms")):
            for item, nets in nets_of.items():
                nets.sort(key=lambda net: self.middle(getattr(net, far)))
                step = 2 if self.size(item) >= 2 * len(nets) - 1 else 1
                start = (self.size(item) - step * (len(nets) - 1) - 1) // 2
                for at, net in enumerate(nets):
                    self.ports[net, item] = start + step * at

    def middle(self, items: list[int]) -> float:
        return sum(self.x[item] + (self.size(item) - 1) / 2 for item in items) / len(items)

    def settle_items(self) -> None:
        """Moves items under the middle of their parents and over that of their children, pass after pass."""
        above, below = self.layers.above, self.layers.below
        for number in range(_PASSES):
            both = number >= _PASSES - 4
            for row in self.layers.rows:
                self.settle_row(row, [above, below] if both else [above])
            for row in reversed(self.layers.rows):
                self.settle_row(row, [above, below] if both else [below])
        for row in self.layers.rows:
            self.settle_row(row, [above, below], whole=True)

    def settle_row(self, row: list[int], sides: list[dict[int, list[Net]]], whole: bool = False) -> None:
        """Puts a row's items as near to where their lines want them as their order and widths allow."""
        shifts = self.shifts(row)
        blocks: list[tuple[float, float, int]] = []  # isotonic regression: mean, weight, how many items
        for item, shift in zip(row, shifts, strict=True):
            wish, weight = self.wish(item, sides)
            block = (wish - shift, weight, 1)
            while blocks and blocks[-1][0] > block[0]:
                mean, before, count = blocks.pop()
                total = before + block[1]
                block = ((mean * before + block[0] * block[1]) / total, total, count + block[2])
            blocks.append(block)
        means = [mean for mean, _, count in blocks for _ in range(count)]
        for item, shift, mean in zip(row, shifts, means, strict=True):
            self.x[item] = shift + (int(mean // 1 + (mean % 1 >= 0.5)) if whole else mean)

    def straighten(self) -> None:
        """Takes bends out of lines from one item to one other where there is room; wires then bend but once."""
        for _ in range(2):
            for row in [*self.layers.rows, *reversed(self.layers.rows)]:
                for at, item in enumerate(row):
                    bends = [self.bend(net) for net in self.layers.above.get(item, []) if _single(net)]
                    if not (bends and self.layers.wire(item)):
                        bends += [-self.bend(net) for net in self.layers.below.get(item, []) if _single(net)]
                        bends = bends if len(set(bends)) == 1 and abs(bends[0]) <= 3 else []
                    if bends and self.room(row, at, bends[0]):
                        self.x[item] += bends[0]

    def bend(self, net: Net) -> float:
        """How far the item below would have to move."""
        return self.column(net, net.tops[0]) - self.column(net, net.bottoms[0])

    def room(self, row: list[int], at: int, by: float) -> bool:
        """Whether an item may move without coming too close to its neighbours."""
        left, right = self.x[row[at]] + by, self.x[row[at]] + by + self.size(row[at]) + self.between
        return (at == 0 or self.x[row[at - 1]] + self.size(row[at - 1]) + self.between <= left) and (
            at == len(row) - 1 or right <= self.x[row[at + 1]]
        )

    def wish(self, item: int, sides: list[dict[int, list[Net]]]) -> tuple[float, float]:
        """Where an item's lines would be straight, and how much that matters."""
        wishes: list[float] = []
        heavy = 1.0
        for side in sides:
            for net in side.get(item, ()):
                ends = net.tops if side is self.layers.above else net.bottoms
                wishes.append(sum(self.column(net, end) for end in ends) / len(ends) - self.ports[net, item])
                if self.layers.wire(item) and len(ends) == 1:
                    heavy = 4.0
        return (sum(wishes) / len(wishes), heavy) if wishes else (self.x[item], 0.1)

    # --- lines between two layers ------------------------------------------------------------------------------

    def ends(self, net: Net) -> tuple[list[int], list[int]]:
        """The columns where a net comes from above, and where it goes on below."""
        return [int(self.column(net, item)) for item in net.tops], [int(self.column(net, item)) for item in net.bottoms]

    def tracks(self, gap: list[Net]) -> dict[Net, int] | None:
        """A row for each net that is not one straight line; None if every order of them puts lines on one another.

        Where one net comes down in a column in which another goes on, it must be the higher one.
        """
        ends = {net: self.ends(net) for net in gap}
        bent = [net for net in gap if len({*ends[net][0], *ends[net][1]}) > 1]
        higher = {
            net: {other for other in bent if other is not net and {*ends[other][0]} & {*ends[net][1]}} for net in bent
        }
        tracks: dict[Net, int] = {}
        while len(tracks) < len(bent):
            rest = [net for net in bent if net not in tracks]
            free = [net for net in rest if not any(other in rest for other in higher[net])]
            if not free:
                return None
            chosen = min(free, key=lambda net: sum(_crossings(ends[net], ends[other]) for other in rest))
            low, high = _reach(ends[chosen])
            tracks[chosen] = 1 + max(
                (
                    track
                    for net, track in tracks.items()
                    if _reach(ends[net])[0] <= high + 1 and low <= _reach(ends[net])[1] + 1
                ),
                default=-1,
            )
        return tracks

    def nudge(self, gap: int) -> None:
        """Moves an item, and those right of it, where lines of two nets share a column."""
        tops = {column: net for net in self.layers.gaps[gap] for column in self.ends(net)[0]}
        row = self.layers.rows[gap + 1]
        for at, item in enumerate(row):
            if any(tops.get(int(self.column(net, item)), net) is not net for net in self.layers.above.get(item, ())):
                for moved in row[at:]:
                    self.x[moved] += 1
                return

    def painted(self, tracks: list[dict[Net, int]]) -> list[Cells] | None:
        left = int(min(self.x.values()))
        width = int(max(at + self.size(item) for item, at in self.x.items())) - left
        lines: list[Cells] = []
        for number, row in enumerate(self.layers.rows):
            line = [" "] * width
            for item in row:
                at = int(self.x[item]) - left
                line[at : at + self.size(item)] = ["│"] if self.layers.wire(item) else self.labels[item]
            lines.append(line)
            if number < len(self.layers.gaps):
                painted = self.paint_gap(self.layers.gaps[number], tracks[number], left, width)
                if painted is None:
                    return None
                lines += painted
        return lines

    def paint_gap(self, gap: list[Net], tracks: dict[Net, int], left: int, width: int) -> list[Cells] | None:
        height = max(tracks.values(), default=0) + 1
        arms = [[0] * width for _ in range(height)]
        for net in gap:
            for (row, column), mine in _arms(self.ends(net), tracks.get(net), height).items():
                there = arms[row][column - left]
                if there and {there, mine} != {UP | DOWN, LEFT | RIGHT}:
                    return None
                arms[row][column - left] = UP | DOWN if there else mine
        return [[GLYPHS[cell] for cell in row] for row in arms]


def _arms(ends: tuple[list[int], list[int]], track: int | None, height: int) -> dict[tuple[int, int], int]:
    """Where a net's lines lead from each of its cells."""
    tops, bottoms = ends
    if track is None:
        return {(row, tops[0]): UP | DOWN for row in range(height)}
    low, high = _reach(ends)
    found = {
        (track, column): (LEFT if column > low else 0) | (RIGHT if column < high else 0)
        for column in range(low, high + 1)
    }
    for column in tops:
        found[track, column] |= UP
        found |= {(row, column): UP | DOWN for row in range(track)}
    for column in bottoms:
        found[track, column] |= DOWN
        found |= {(row, column): UP | DOWN for row in range(track + 1, height)}
    return found


def _single(net: Net) -> bool:
    return len(net.tops) == len(net.bottoms) == 1


def _reach(ends: tuple[list[int], list[int]]) -> tuple[int, int]:
    return min(*ends[0], *ends[1]), max(*ends[0], *ends[1])


def _crossings(upper: tuple[list[int], list[int]], lower: tuple[list[int], list[int]]) -> int:
    """Lines that cross if one net runs above the other."""
    (low, high), (first, last) = _reach(upper), _reach(lower)
    return sum(first < column < last for column in upper[1]) + sum(low < column < high for column in lower[0])


def _compact(lines: list[Cells] | None, between: int) -> list[Cells] | None:
    """Narrows the free space between things: of columns that hold only lines that pass, some are enough."""
    if lines is None:
        return None
    kept: list[int] = []
    free = 0
    for column in range(len(lines[0])):
        free = free + 1 if all(line[column] in (" ", "─") for line in lines) else 0
        if free <= between:
            kept.append(column)
    return [[line[column] for column in kept] for line in lines]
