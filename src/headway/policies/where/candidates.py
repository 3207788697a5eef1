"""The sites that a job may go to: up, with its program, and large enough."""

from __future__ import annotations

from collections.abc import Sequence

from headway.model.errors import HeadwayError, UsageError, shown
from headway.model.job import Job, Resources
from headway.model.record import record
from headway.model.site import Site


@record
class Needs:
    """What a job must find at its site."""

    program: str = ""  # "": none that anybody could look for
    cores: int = 1
    memory: int = 0  # bytes
    named: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, job: Job) -> Needs:
        own: Resources = job.resources
        return cls(program(job), own.cores, own.memory or 0, own.named)


def program(job: Job) -> str:
    """The program of a job: its attribute `program`, or the name of the file that its command begins with."""
    told = job.attributes.get("program")
    if told is not None:
        return told
    for word in (job.command or "").split():
        name, is_assignment, _ = word.partition("=")
        if not (is_assignment and name.isidentifier()):
            return word.rstrip("/").rpartition("/")[2]
    return ""


def candidates(needs: Needs, sites: Sequence[Site]) -> list[int]:
    """The places of the sites that a job may go to, in the order in which sites are listed."""
    return [at for at, site in enumerate(sites) if site.is_up and _has(needs, site) and _fits(needs, site)]


def _has(needs: Needs, site: Site) -> bool:
    return not needs.program or site.program(needs.program) is not None


def _fits(needs: Needs, site: Site) -> bool:
    there = dict(site.named)
    return (
        needs.cores <= site.processors
        and (site.memory is None or needs.memory <= site.memory)
        and all(there.get(name, 0) >= count for name, count in needs.named)
    )


def no_site(job: str, needs: Needs, sites: Sequence[Site]) -> HeadwayError:
    """Why a job has no candidate, and the way out."""
    if not sites:
        return UsageError("there is no site.", "List one: [sites.NAME] with processors = N.")
    up = [site for site in sites if site.is_up]
    if not up:
        return UsageError(f"no site is up: all {len(sites)} are down.", "Set up = true for one of them.")
    able = [site for site in up if _has(needs, site)]
    if not able:
        return UsageError(
            f"job {shown(job)}: no site that is up has the program {shown(needs.program)}.",
            "Add it to the programs of a site, or leave programs out of a site that has every program.",
        )
    most = max(site.processors for site in able)
    if needs.cores > most:
        return UsageError(
            f"job {shown(job)} needs {needs.cores} cores, and the largest site that has its program has {most}.",
            "Ask for fewer cores, or add a larger site.",
        )
    return UsageError(
        f"job {shown(job)}: no site that is up and has its program has the memory or the named resources it needs.",
        "Ask for less, or add a site that has them.",
    )
