"""Random DAGs for DAGMan and for Headway: all that a node can be given, and nothing whose outcome depends on the clock.

Every job and script is `act`, which notes in the file `trace` that it begins and how it ends. Where two things could
race, one of them waits in its script for what the other has noted: so both systems must come to the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.htcondor.act import ACT

# What a script is told, in any case of letters. Counts over the whole DAG are asked for where nothing else runs.
PRE_WORDS = ["$JOB", "$RETRY", "$MAX_RETRIES", "$Node", "$retry", "NOTHING", "x$JOB"]
POST_WORDS = [*PRE_WORDS, "$RETURN", "$PRE_SCRIPT_RETURN", "$JOB_COUNT", "$Return", "$job", "$pre_script_return"]
POST_WORDS += ["$EXIT_CODES", "$EXIT_CODE_COUNTS", "$JOB_ABORT_COUNT"]
DAG_WORDS = ["$DAG_STATUS", "$FAILED_COUNT", "$QUEUED_COUNT"]
COUNTS = ["$DONE_COUNT", "$NODE_COUNT", "$FUTILE_COUNT"]


@dataclass(slots=True)
class Case:
    """The files of one DAG, and the order that its nodes must keep to."""

    seed: int
    files: dict[str, str] = field(default_factory=dict)
    arcs: list[tuple[str, str]] = field(default_factory=list)  # by the names of nodes, sub-DAGs' own among them
    removed: set[str] = field(default_factory=set)  # nodes that run when the DAG is ended
    throttles: list[tuple[tuple[str, ...], int]] = field(default_factory=list)  # nodes, and how many may run at once

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).write_text(text)
        (folder / "act").write_text(ACT)
        (folder / "act").chmod(0o755)


def case(seed: int) -> Case:
    """The DAG of a seed."""
    made = Case(seed)
    _Dag(made, random.Random(seed), "x", depth=0).write()
    return made


def _codes(chance: random.Random, retries: int) -> str:
    """Exit codes for one run after the other: mostly well at once, at times only when tried again, at times never."""
    shape = chance.random()
    if shape < 0.55:
        return "0"
    bad = [chance.choice(["1", "2", "3", "7", "k"]) for _ in range(chance.randint(1, retries + 1))]
    return ",".join([*bad, "0"] if shape < 0.85 else bad)


class _Dag:
    """One DAG file: the outermost, a sub-DAG, or one that is spliced in (`prefix`: what its nodes begin with then)."""

    def __init__(self, case: Case, chance: random.Random, name: str, depth: int, prefix: str | None = None) -> None:
        self.case, self.chance, self.name, self.depth = case, chance, name, depth
        self.spliced = prefix is not None
        self.prefix = prefix or ("" if depth == 0 else f"{name}_")
        self.declared: list[str] = []  # lines
        self.lines: list[str] = []
        self.members: list[str] = []  # as the file calls them
        self.inside: dict[
            str, tuple[list[str], list[str]]
        ] = {}  # of a splice: first and last nodes, by their full names
        self.parents: dict[str, set[str]] = {}
        self.children: dict[str, set[str]] = {}
        self.throttled: list[str] = []
        self.has_joins = self.is_ended = False  # ended while a node of it runs

    def full(self, member: str) -> str:
        return self.prefix + member if self.spliced else member

    def first(self, member: str) -> list[str]:
        return self.inside[member][0] if member in self.inside else [self.full(member)]

    def last(self, member: str) -> list[str]:
        return self.inside[member][1] if member in self.inside else [self.full(member)]

    def some(self, probability: float) -> bool:
        return self.chance.random() < probability

    # --- the whole -------------------------------------------------------------------------------------------------

    def write(self) -> tuple[list[str], list[str]]:
        """Writes the file; its first and last nodes."""
        count = self.chance.randint(2, 6 if self.depth == 0 else 3)
        names = [(self.prefix if not self.spliced else "") + letter for letter in "ABCDEFGH"[:count]]
        aborts = self.chance.randrange(count) if not self.spliced and self.some(0.3) else None
        for at, name in enumerate(names):
            self.member(name, aborting=at == aborts)
        self.arrows(names, aborts)
        if aborts == 0 and self.some(0.6):
            self.bystander(names[0])
        is_ended_inside = f"{self.prefix}Z" in self.case.removed and "SUBDAG" in self.declared[-1]
        if self.throttled:
            most = self.chance.randint(1, 2)
            self.lines.append(f"MAXJOBS c{self.name} {most}")
            self.case.throttles.append((tuple(self.throttled), most))
        if not self.spliced:
            # DAGMan does not wait for a sub-DAG that it removes, and gives up if its own final node is faster.
            if self.some(0.4) and not is_ended_inside:
                self.final()
            self.lines += [f"NODE_STATUS_FILE {self.name}.status 1 ALWAYS-UPDATE", f"JOBSTATE_LOG {self.name}.jobstate"]
        self.case.files[f"{self.name}.dag"] = "\n".join([*self.declared, *self.lines]) + "\n"
        firsts = [one for name in names if not self.parents.get(name) for one in self.first(name)]
        lasts = [one for name in names if not self.children.get(name) for one in self.last(name)]
        return firsts, lasts

    def arrows(self, names: Sequence[str], aborts: int | None) -> None:
        """Arcs from earlier members to later ones; whoever may end the DAG has nobody beside it."""
        pairs: set[tuple[str, str]] = set()
        if aborts is not None:
            pairs |= {(name, names[aborts]) for name in names[:aborts]}
            pairs |= {(names[aborts], name) for name in names[aborts + 1 :]}
        for at, name in enumerate(names):
            for later in names[at + 1 :]:
                if self.some(0.35):
                    pairs.add((name, later))
        if len(names) >= 4 and self.some(0.6):  # many to many
            cut = self.chance.randint(2, len(names) - 2)
            above, below = names[:cut][-3:], names[cut:][:3]
            if aborts is None or names[aborts] not in (*above, *below):
                self.arrow(above, below)
                self.has_joins = True
                pairs -= {(one, other) for one in above for other in below}
        for one, other in sorted(pairs):
            self.arrow([one], [other])

    def arrow(self, above: Sequence[str], below: Sequence[str]) -> None:
        self.lines.append(f"PARENT {' '.join(above)} CHILD {' '.join(below)}")
        for one in above:
            for other in below:
                self.parents.setdefault(other, set()).add(one)
                self.children.setdefault(one, set()).add(other)
                self.case.arcs += [(a, b) for a in self.last(one) for b in self.first(other)]

    # --- members ---------------------------------------------------------------------------------------------------

    def member(self, name: str, aborting: bool) -> None:
        kind = self.chance.random()
        if self.depth < 2 and not aborting and kind < 0.12:
            self.splice(name)
            return
        retries = self.chance.choice([0, 0, 0, 1, 2])
        if self.depth < 1 and not self.spliced and kind < 0.3:
            self.sub_dag(name)
            codes = "0"
        else:
            codes = self.job(name, retries, aborting)
        self.rules(name, retries, codes, aborting)

    def splice(self, name: str) -> None:
        file = f"{self.name}_{name}_s"
        prefix = f"{self.full(name)}+"
        self.inside[name] = _Dag(self.case, self.chance, file, self.depth + 1, prefix).write()
        self.declared.append(f"SPLICE {name} {file}.dag")

    def sub_dag(self, name: str) -> None:
        file = f"{self.name}_{name}_u"
        _Dag(self.case, self.chance, file, self.depth + 1).write()
        self.declared.append(f"SUBDAG EXTERNAL {name} {file}.dag")

    def job(self, name: str, retries: int, aborting: bool) -> str:
        """A node with a submit file of its own; the codes of its main process."""
        processes = 1 if aborting or self.some(0.75) else self.chance.choice([2, 3])
        codes = _codes(self.chance, retries)
        extra = []
        if processes == 1 and self.some(0.15):
            extra.append(f"max_retries = {self.chance.randint(1, 2)}")
        if processes == 1 and self.some(0.12):
            extra.append(f"success_exit_code = {self.chance.choice([1, 3, 7])}")
        if extra and self.some(0.3):
            extra.append(f"retry_until = {self.chance.choice([2, 7])}")
        option = self.chance.choice([" NOOP", " DONE"]) if self.some(0.1) and not aborting else ""
        if self.spliced:
            option = option.replace(" DONE", "")  # which DAGMan takes no notice of there
        tag = self.some(0.3)
        self.submit_file(name, processes, [*extra, *(["tag = $(JOB)-$(RETRY)-$(word)"] if tag else [])])
        self.declared.append(f"JOB {name} {self.name}_{name}.sub{option}")
        plan = codes if processes == 1 else self.processes_plan(name, processes, codes)
        self.lines.append(f'VARS {name} plan="{plan}" word="{self.chance.choice("uvw")}"')
        return codes

    def submit_file(self, name: str, processes: int, extra: Sequence[str] = ()) -> None:
        self.case.files[f"{self.name}_{name}.sub"] = "\n".join(
            [
                "executable = act",
                "should_transfer_files = no",
                *extra,
                "arguments = job $(JOB) $(Process) $(plan) $(tag)",
                f"queue {processes}" if processes > 1 else "queue",
                "",
            ]
        )

    def processes_plan(self, name: str, processes: int, codes: str) -> str:
        """Of several processes one may fail, when the others have ended or while they certainly run."""
        at = self.chance.randrange(processes)
        others = [number for number in range(processes) if number != at]
        full, parts = self.full(name), [list[str]() for _ in range(processes)]
        for code in codes.split(","):
            asleep = code != "0" and self.some(0.5)
            for other in others:
                parts[other].append("z" if asleep else "0")
            word = "start.@" if asleep else "end.@.0"
            parts[at].append(code + "".join(f":job/{full}/{other}.{word}" for other in others))
        return "%".join(",".join(part) for part in parts)

    def rules(self, name: str, retries: int, codes: str, aborting: bool) -> None:
        chance, full = self.chance, self.full(name)
        bad = [code for code in codes.split(",") if code not in "0k"]
        pre = _codes(chance, retries) if self.some(0.25) else None
        post = _codes(chance, retries) if self.some(0.3) else None
        if pre is not None:
            pre = pre.replace("k", "9")
            self.lines.append(f"SCRIPT PRE {name} act pre {full} 0 {pre} {' '.join(chance.sample(PRE_WORDS, 4))}")
            if self.some(0.5):
                self.lines.append(f"PRE_SKIP {name} {chance.choice([*[c for c in pre.split(',') if c != '0'], '4'])}")
        if post is not None:
            post = post.replace("k", "9")
            self.lines.append(f"SCRIPT POST {name} act post {full} 0 {post} {' '.join(chance.sample(POST_WORDS, 5))}")
        if retries:
            unless = f" UNLESS-EXIT {chance.choice([*bad, '1', '2'])}" if self.some(0.4) else ""
            self.lines.append(f"RETRY {name} {retries}{unless}")
        if aborting:
            # Of a sub-DAG that exits with more than 2, HTCondor starts DAGMan again, and again.
            code = chance.choice([*[c for c in bad if c != "1"], "2", "3", "7"] if self.depth == 0 else ["2"])
            returns = ["0", "4", "42"] if self.depth == 0 else ["0", "1", "2"]
            returned = f" RETURN {chance.choice(returns)}" if self.some(0.5) else ""
            self.lines.append(f"ABORT-DAG-ON {name} {code}{returned}")
        elif self.some(0.2) and not self.spliced and self.declared[-1].startswith("JOB"):
            self.lines.append(f"CATEGORY {name} c{self.name}")
            self.throttled.append(full)

    def bystander(self, aborting: str) -> None:
        """A node, or a sub-DAG with a final one, that runs when the first node ends the DAG."""
        if f"JOB {aborting} " not in self.declared[0]:
            return
        name = f"{self.prefix}Z"
        if self.depth == 0 and self.some(0.5):
            inner = _Dag(self.case, self.chance, f"{self.name}_{name}_u", self.depth + 1)
            inner.is_ended = True
            sleeper = f"{inner.prefix}A"
            inner.submit_file(sleeper, 1)
            inner.declared.append(f"JOB {sleeper} {inner.name}_{sleeper}.sub")
            inner.lines.append(f'VARS {sleeper} plan="z,0"')
            if self.some(0.7):
                inner.final()
            inner.lines.append(f"NODE_STATUS_FILE {inner.name}.status 1 ALWAYS-UPDATE")
            self.case.files[f"{inner.name}.dag"] = "\n".join([*inner.declared, *inner.lines]) + "\n"
            self.declared.append(f"SUBDAG EXTERNAL {name} {inner.name}.dag")
        else:
            sleeper = name
            self.submit_file(name, 1)
            self.declared.append(f"JOB {name} {self.name}_{name}.sub")
            self.lines.append(f'VARS {name} plan="z,0"')
        self.case.removed |= {name, sleeper}
        self.is_ended = True
        words = ("VARS", "RETRY", "SCRIPT PRE", "SCRIPT POST", "ABORT-DAG-ON", "PRE_SKIP")
        mine = tuple(f"{word} {aborting} " for word in words)
        self.lines = [line for line in self.lines if not line.startswith(mine)]
        code = self.chance.choice(["2", "7"] if self.depth == 0 else ["2"])
        self.submit_file(aborting, 1)
        self.lines.append(f'VARS {aborting} plan="{code}:job/{sleeper}/0.start,0" word="u"')
        returned = f" RETURN {5 if self.depth == 0 else 2}" if self.some(0.5) else ""
        self.lines.append(f"ABORT-DAG-ON {aborting} {code}{returned}")

    def dag_words(self) -> list[str]:
        """DAGMan counts its join nodes too, calls nodes futile that are done, and none after UNLESS-EXIT.

        Nodes that it removes have failed when it hears of their end, which may be before the final node runs or after.
        """
        if self.is_ended:
            return ["$DAG_STATUS"] * 3
        text = "\n".join([*self.declared, *self.lines])
        plain = not any(word in text for word in ("SPLICE", " DONE", "UNLESS-EXIT")) and not self.has_joins
        return [*DAG_WORDS, *COUNTS] if plain else DAG_WORDS

    def final(self) -> None:
        name = f"{self.prefix}FIN"
        self.submit_file(name, 1)
        option = " NOOP" if self.some(0.1) else ""
        self.declared.append(f"FINAL {name} {self.name}_{name}.sub{option}")
        plan = self.chance.choice(["0", "0", "0", "2", "2,0", "3"])
        counted = "" if self.is_ended else "$(FAILED_COUNT)"
        self.lines.append(f'VARS {name} plan="{plan}" tag="$(DAG_STATUS){counted}"')
        if self.some(0.5):
            words = " ".join([*self.chance.sample(PRE_WORDS, 2), *self.chance.sample(self.dag_words(), 3)])
            code = self.chance.choice(["0", "0", "0", "1"])
            self.lines.append(f"SCRIPT PRE {name} act pre {name} 0 {code} {words}")
        if self.some(0.5):
            words = " ".join([*self.chance.sample(POST_WORDS, 3), *self.chance.sample(self.dag_words(), 3)])
            code = self.chance.choice(["0", "0", "1"])
            self.lines.append(f"SCRIPT POST {name} act post {name} 0 {code} {words}")
