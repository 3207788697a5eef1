from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model.job import Job, Resources
from headway.model.site import Program, Site
from headway.policies.where.candidates import Needs, candidates, no_site, program
from headway.policies.where.patience import elsewhere, runs_out

BLAST = Program("blast", "/opt/blast/bin/blast", (("BLASTDB", "/data"),))
SITES = [
    Site("down", 100, is_up=False),
    Site("small", 4),
    Site("blast", 16, programs=(BLAST,)),
    Site("large", 64, programs=(), memory=2**30, named=(("gpu", 2),)),
]


def names(needs: Needs) -> list[str]:
    return [SITES[at].name for at in candidates(needs, SITES)]


def test_candidates_are_up_have_the_program_and_fit_the_resources() -> None:
    assert names(Needs()) == ["small", "blast", "large"]
    assert names(Needs("blast")) == ["small", "blast"]
    assert names(Needs("blast", cores=8)) == ["blast"]
    assert names(Needs(memory=2**31)) == ["small", "blast"]
    assert names(Needs(named=(("gpu", 1),))) == ["large"]
    assert names(Needs(named=(("gpu", 3),))) == []


def test_a_site_says_where_its_program_is() -> None:
    assert SITES[2].program("blast") == BLAST and SITES[2].program("bwa") is None
    assert SITES[1].program("bwa") == Program("bwa", "bwa")


@pytest.mark.parametrize(
    ("job", "found"),
    [
        (Job("/usr/bin/blast -in x"), "blast"),
        (Job("LANG=C blast -in x"), "blast"),
        (Job("a=b"), ""),
        (Job(""), ""),
        (Job(None), ""),
        (Job("sh run.sh", attributes={"program": "blast"}), "blast"),
    ],
)
def test_the_program_of_a_job(job: Job, found: str) -> None:
    assert program(job) == found


def test_what_a_job_needs_is_read_from_it() -> None:
    job = Job("blast", resources=Resources(cores=3, memory=5, named=(("gpu", 1),)))
    assert Needs.of(job) == Needs("blast", 3, 5, (("gpu", 1),))


@pytest.mark.parametrize(
    ("needs", "sites", "said"),
    [
        (Needs(), [], "there is no site"),
        (Needs(), SITES[:1], "all 1 are down"),
        (Needs("bwa"), SITES[2:], 'no site that is up has the program "bwa"'),
        (Needs(cores=65), SITES, "needs 65 cores, and the largest site that has its program has 64"),
        (Needs(named=(("gpu", 3),)), SITES, "the memory or the named resources"),
    ],
)
def test_why_a_job_has_no_candidate(needs: Needs, sites: list[Site], said: str) -> None:
    assert not candidates(needs, sites)
    assert said in str(no_site("a", needs, sites))


def test_a_job_that_is_withdrawn_goes_elsewhere() -> None:
    assert elsewhere([0, 2, 5], 2) == [0, 5]
    assert elsewhere([2], 2) == []


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_patience_runs_out_after_that_long_in_a_queue_and_never_where_there_is_none(
    queued: float, patience: float
) -> None:
    assert runs_out(queued, 0.0) == math.inf
    if patience:
        assert runs_out(queued, patience) == queued + patience
