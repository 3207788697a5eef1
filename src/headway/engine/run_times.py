"""How long a job may be expected to take, by earlier ones of its program, by the size of their input, site by site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headway.model.messages import Seconds
from headway.model.record import record

# Programs that run what their first argument names: `python3 align.py` is another program than `python3 sort.py`.
_INTERPRETERS = ("python", "perl", "ruby", "Rscript", "bash", "sh", "java", "julia", "octave", "node")


@record
class Ran:
    """One job that ended well."""

    program: str
    site: str
    seconds: Seconds
    size: int | None = None  # bytes of its input; None: not known


class RunTimes:
    """What earlier jobs teach. A job of an unknown program at all sites is expected to take nobody knows how long."""

    def __init__(self, ran: Iterable[Ran]) -> None:
        self._known: dict[str, dict[str, list[Ran]]] = {}  # by program and site
        for one in ran:
            self._known.setdefault(one.program, {}).setdefault(one.site, []).append(one)
        self._ratios: dict[tuple[str, str], Seconds] = {}

    def expected(self, program: str, site: str, size: int | None = None) -> Seconds | None:
        """Seconds at a site; None: nothing is known of this program."""
        sites = self._known.get(program)
        if not sites:
            return None
        if site in sites:
            return _by_size(sites[site], size)
        elsewhere = max(sites, key=lambda one: (len(sites[one]), one))
        return _by_size(sites[elsewhere], size) * self._ratio(site, elsewhere)

    def _ratio(self, site: str, other: str) -> float:
        """How much longer jobs take at one site than at another, by the programs that ran at both; else as long."""
        if (site, other) not in self._ratios:
            ratios = []
            for sites in self._known.values():
                if site in sites and other in sites:
                    here, there = (
                        _middle(one.seconds for one in sites[site]),
                        _middle(one.seconds for one in sites[other]),
                    )
                    if there > 0:
                        ratios.append(here / there)
            self._ratios[site, other] = _middle(ratios) if ratios else 1.0
        return self._ratios[site, other]


def _by_size(ran: list[Ran], size: int | None) -> Seconds:
    """By those with the next smaller and the next larger input; beyond the largest in proportion to it."""
    sizes: dict[int, list[Seconds]] = {}
    for one in ran:
        if one.size is not None:
            sizes.setdefault(one.size, []).append(one.seconds)
    if size is None or not sizes:
        return _middle(one.seconds for one in ran)
    times: Mapping[int, Seconds] = {known: _middle(seconds) for known, seconds in sizes.items()}
    below, above = (
        max((one for one in times if one <= size), default=None),
        min((one for one in times if one >= size), default=None),
    )
    if above is None:
        assert below is not None
        return times[below] * (size / below if below else 1.0)
    if below is None or below == above:
        return times[above]
    return times[below] + (times[above] - times[below]) * (size - below) / (above - below)


def _middle(values: Iterable[float]) -> float:
    """The median: one that was slow by chance does not count."""
    found = sorted(values)
    half = len(found) // 2
    return found[half] if len(found) % 2 else (found[half - 1] + found[half]) / 2


def program_of(command: str) -> str:
    """The program that a command line begins with, and its script if it is an interpreter; without their folders."""
    words = command.split()
    while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
        words.pop(0)
    if not words:
        return ""
    name = words[0].rpartition("/")[2]
    plain = name.rstrip("0123456789.")
    if plain in _INTERPRETERS and len(words) > 1 and not words[1].startswith("-"):
        return f"{plain} {words[1].rpartition('/')[2]}"
    return name
