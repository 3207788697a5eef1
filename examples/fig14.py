"""Checkers endgame databases, as a DAG description script (the example of TrellisDAG's Fig. 14, in Python 3).

    headway show examples/fig14.py 4

A slice is the set of positions with so many black kings, white kings, black checkers and white checkers. It takes two
jobs: computing it, and verifying what was computed. Slices with as many black and as many white pieces form a group VS.
"""

import sys

most_pieces = int(sys.argv[1])

# --- the interface: the names are those of the paper ---

Levels = [["VS", 2], ["Slice", 4]]


def generateGroup(level, parentGroup):
    if level == "VS":
        return [
            [black, pieces - black]
            for pieces in range(3, most_pieces + 1)
            for black in range((pieces + 1) // 2, pieces)
        ]
    black, white = parentGroup
    slices = [[bk, wk, black - bk, white - wk] for bk in range(black + 1) for wk in range(white + 1)]
    return [each for each in slices if is_needed(*each)]


def getDependent(level, group, parentGroup):
    if level == "VS":
        black, white = group
        return [[black - 1, white], [black, white - 1]]  # after a capture
    bk, wk, bc, wc = group
    return [[bk + 1, wk, bc - 1, wc], [bk, wk + 1, bc, wc - 1]]  # after a checker became a king


def getJobsExecutables(level, group):
    if level != "Slice":
        return []
    name = "".join(map(str, group))
    return [f"{name}.comp.sh", f"{name}.ver.sh"]


def getJobsAttributes(level, group):
    if level != "Slice":
        return []
    # Slices that wait for this one need its data, not its verification; that runs where the data are.
    return [{"affinity=no", "release=yes"}, {"affinity=yes", "release=no"}]


def getJobsParameters(level, group):
    return []


# --- what the interface needs ---


def is_needed(bk, wk, bc, wc):
    """Exchanging the colours gives the same positions, so one of each such pair will do."""
    return bk + bc > wk + wc or (bk + bc == wk + wc and bc >= wc)
