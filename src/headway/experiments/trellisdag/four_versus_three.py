"""The workflow of section 4.3, as a DAG description script: 4 versus 3 pieces, levels VS, Slice and Rank.

    headway show four_versus_three.py SCALE [VERIFY]

Jobs sleep for as long as ranks.py says, times SCALE. VERIFY: how long verifying a rank takes of what computing it does;
without it there are no such jobs.
"""

import sys

from headway.experiments.trellisdag import ranks

scale = float(sys.argv[1])
verify = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

Levels = [["VS", 2], ["Slice", 4], ["Rank", 6]]
NO_MAN = -1
Group = list[int]


def generateGroup(level: str, parentGroup: Group) -> list[Group]:
    if level == "VS":
        return [[ranks.BLACK, ranks.WHITE]]
    if level == "Slice":
        return [list(each) for each in ranks.slices()]
    return [[*parentGroup, *numbered(rank)] for rank in ranks.ranks(slice_of(parentGroup))]


def numbered(rank: ranks.Rank) -> Group:
    return [NO_MAN if each is None else each for each in rank]


def slice_of(group: Group) -> ranks.Slice:
    bk, wk, bc, wc = group[:4]
    return bk, wk, bc, wc


def rank_of(group: Group) -> ranks.Rank:
    black, white = (None if each == NO_MAN else each for each in group[4:])
    return black, white


def getDependent(level: str, group: Group, parentGroup: Group) -> list[Group]:
    if level == "VS":
        return []
    if level == "Slice":
        bk, wk, bc, wc = group
        return [[bk + 1, wk, bc - 1, wc], [bk, wk + 1, bc, wc - 1]]  # a man became a king
    return [[*parentGroup, *numbered(each)] for each in ranks.after(rank_of(group))]  # a leading man went on


def getJobsExecutables(level: str, group: Group) -> list[str]:
    if level != "Rank":
        return []
    seconds = scale * ranks.seconds(slice_of(group), rank_of(group))
    return [f"sleep {each:.4f}" for each in (seconds, verify * seconds) if each]


def getJobsAttributes(level: str, group: Group) -> list[set[str]]:
    if level != "Rank":
        return []
    seconds = scale * ranks.seconds(slice_of(group), rank_of(group))
    return [{f"seconds={seconds}", "release=yes"}, {f"seconds={verify * seconds}", "affinity=yes"}][: 1 + (verify > 0)]
