"""Logs of batch queues in the Standard Workload Format: a line for each job, eighteen numbers, remarks after `;`.

Only what a replay needs is kept: when a job came, how many processors it asked for and for how long, how long it ran,
and whose it was. What cannot be replayed is left out and counted by reason.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from headway.model.errors import InputError, UsageError, shown
from headway.model.quantities import plain
from headway.model.record import mutable, record

FIELDS = 18
_SUBMIT, _RUN, _ALLOCATED, _WIDTH, _REQUEST, _STATUS, _USER = 1, 3, 4, 7, 8, 10, 11
_COMPLETED, _PIECES = 1, (2, 3, 4)  # 2 to 4 are pieces of a job that is also there as a whole
CHOICES = ("finished", "all")
MOST_PROCESSORS = 10_000_000
_LONGEST = 1e10  # seconds, some 300 years: beyond, times are mistakes, and a clock loses its seconds


@record
class Log:
    """The jobs of a log by submission, as columns of the same length."""

    name: str
    processors: int
    submit: array[float]
    run: array[float]  # never longer than the request: there a queue ends a job
    width: array[int]
    request: array[float]
    user: array[int]  # numbered from 0 in the order of their first job
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.submit)

    @property
    def users(self) -> int:
        return max(self.user, default=-1) + 1


@mutable
class _Columns:
    submit: list[float]
    run: list[float]
    width: list[int]
    request: list[float]
    user: list[int]
    status: list[int]


def parse(
    path: str, lines: Iterable[str], processors: int | None = None, jobs: str = "finished", name: str = ""
) -> Log:
    """The log in some lines. `processors` overrides what its header says; `jobs` is finished or all.

    Finished are jobs of status 1. A log that has none of them does not tell, and all of its jobs are taken.
    """
    header: dict[str, str] = {}
    found = _Columns([], [], [], [], [], [])
    left_out: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith(";"):
            key, colon, value = text.lstrip("; \t").partition(":")
            if colon:
                header.setdefault(key.strip(), value.strip())
        elif text:
            _take(path, number, text, found, left_out)
    size = processors if processors is not None else _processors(path, header)
    if size < 1:
        raise UsageError(f"a machine of {size} processors runs nothing.", "Give a number such as --processors 128.")
    if size > MOST_PROCESSORS:
        raise UsageError(
            f"a machine of {size:.3g} processors is none that there is.", "Give a number such as --processors 128."
        )
    return _log(name or path, found, size, jobs, left_out)


def _take(path: str, number: int, text: str, found: _Columns, left_out: Counter[str]) -> None:
    words = text.split()
    if len(words) < FIELDS:
        raise InputError(
            path,
            number,
            f"{len(words)} fields, expected {FIELDS}.",
            "Is this a whole log in the Standard Workload Format?",
        )
    try:
        submit, run = float(words[_SUBMIT]), float(words[_RUN])
        width, allocated, request = int(words[_WIDTH]), int(words[_ALLOCATED]), float(words[_REQUEST])
        status, user = int(words[_STATUS]), int(words[_USER])
    except ValueError:
        raise InputError(
            path, number, f"{shown(text)} has a field that is no number.", "Fields that are not known are -1."
        ) from None
    width = width if width > 0 else allocated
    if not submit >= 0 or submit == float("inf"):
        left_out["without a time of submission"] += 1
    elif run == 0:
        left_out["that ran for 0 seconds"] += 1
    elif not 0 < run < float("inf"):
        left_out["without a run time"] += 1
    elif width <= 0:
        left_out["without processors"] += 1
    elif max(submit, run, request if request < float("inf") else 0.0) > _LONGEST:
        left_out["with times of more than 300 years"] += 1
    elif status in _PIECES:
        left_out["that are pieces of others"] += 1
    else:
        found.submit.append(submit)
        found.run.append(run)
        found.width.append(width)
        found.request.append(request if 0 < request < float("inf") else -1.0)
        found.user.append(user)
        found.status.append(status)


def _processors(path: str, header: dict[str, str]) -> int:
    for key in ("MaxProcs", "MaxNodes"):
        word = header.get(key, "").split()
        if word and word[0].isdecimal():
            return int(word[0])
    raise InputError(
        path, 1, "the header does not say how many processors there are (MaxProcs).", "Give --processors N."
    )


def _log(name: str, found: _Columns, processors: int, jobs: str, left_out: Counter[str]) -> Log:
    """Sorted, without what cannot be replayed, each run clipped at its request."""
    size = len(found.submit)
    tells = _COMPLETED in found.status
    if jobs == "finished" and tells:
        kept = [at for at in range(size) if found.status[at] == _COMPLETED]
        left_out["that did not finish"] += size - len(kept)
    else:
        kept = list(range(size))
    fitting = [at for at in kept if found.width[at] <= processors]
    left_out[f"wider than the {processors:,} processors"] += len(kept) - len(fitting)
    warnings = [f"left out: {count:,} jobs {why}." for why, count in left_out.items() if count]
    submits = [found.submit[at] for at in fitting]
    if any(later < earlier for earlier, later in pairwise(submits)):
        warnings.append("the jobs are not sorted by submission; they were sorted.")
        fitting.sort(key=found.submit.__getitem__)
    unknown = sum(found.request[at] < 0 for at in fitting)
    if unknown:
        warnings.append(f"{unknown:,} jobs have no requested time; their run time stands for it.")
    over = sum(0 < found.request[at] < found.run[at] for at in fitting)
    if over:
        warnings.append(f"{over:,} jobs ran past their requested time; they are ended there.")
    requests = [found.request[at] if found.request[at] > 0 else found.run[at] for at in fitting]
    number: dict[int, int] = {}
    return Log(
        name,
        processors,
        array("d", [found.submit[at] for at in fitting]),
        array("d", [min(found.run[at], request) for at, request in zip(fitting, requests, strict=True)]),
        array("q", [found.width[at] for at in fitting]),
        array("d", requests),
        array("q", [number.setdefault(found.user[at], len(number)) for at in fitting]),
        tuple(warnings),
    )


def render(log: Log) -> str:
    """The log as text, all its jobs finished."""
    lines = ["; Version: 2.2", f"; MaxProcs: {log.processors}"]
    columns = zip(log.submit, log.run, log.width, log.request, log.user, strict=True)
    for number, (submit, run, width, request, user) in enumerate(columns, 1):
        times = [plain(one) for one in (submit, run, request)]
        lines.append(
            f"{number} {times[0]} -1 {times[1]} {width} -1 -1 {width} {times[2]} -1 1 {user} -1 -1 -1 -1 -1 -1"
        )
    return "\n".join(lines) + "\n"
