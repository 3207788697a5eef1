"""Checkers endgame databases up to so many pieces: a DAG description script like that of TrellisDAG's Fig. 14.

    headway run examples/checkers/endgames.py 4

It begins one step before the paper's: with one piece against one. README.md says what is computed, and how.
"""

import importlib.util
import sys

if len(sys.argv) != 2 or not sys.argv[1].isdecimal() or not 2 <= int(sys.argv[1]) <= 7:
    raise SystemExit("Say up to how many pieces, 2 to 7: headway run endgames.py 4")
if importlib.util.find_spec("numba") is None:
    raise SystemExit("Computing slices takes numba: pip install 'headway[sim]'")

most_pieces = int(sys.argv[1])

# --- the interface: the names are those of the paper ---

Levels = [["VS", 2], ["Slice", 4]]


def generateGroup(level, parentGroup):
    if level == "VS":
        return [
            [black, pieces - black]
            for pieces in range(2, most_pieces + 1)
            for black in range((pieces + 1) // 2, pieces)
        ]
    black, white = parentGroup
    slices = [[bk, wk, black - bk, white - wk] for bk in range(black + 1) for wk in range(white + 1)]
    # With as many pieces on both sides, exchanging the colours gives the same positions: one of each pair will do.
    return [[bk, wk, bm, wm] for bk, wk, bm, wm in slices if black > white or bm >= wm]


def getDependent(level, group, parentGroup):
    if level == "VS":
        black, white = group
        return [[black - 1, white], [black, white - 1]]  # after a capture
    bk, wk, bm, wm = group
    return [[bk + 1, wk, bm - 1, wm], [bk, wk + 1, bm, wm - 1]]  # after a man became a king


def getJobsExecutables(level, group):
    if level != "Slice":
        return []
    name = "".join(map(str, group))
    return [[sys.executable, "comp.py", name], [sys.executable, "ver.py", name]]


def getJobsAttributes(level, group):
    if level != "Slice":
        return []
    # Slices that wait for this one need its data, not its verification; that runs where the data are.
    return [{"affinity=no", "release=yes"}, {"affinity=yes", "release=no"}]


def getJobsParameters(level, group):
    return []
