from __future__ import annotations

import pytest

from headway.experiments import paper_dags
from headway.experiments.paper_dags import PaperDag
from headway.policies.what_next.prio.plan import Plan


@pytest.mark.parametrize(
    ("generated", "jobs", "arcs", "levels"),
    [
        (paper_dags.airsn(), 773, 1318, 10),
        (paper_dags.airsn(shape="chain"), 773, 1270, 25),
        (paper_dags.airsn(shape="fmri"), 773, 1273, 12),
        (paper_dags.inspiral(), 2988, 4253, 6),
        (paper_dags.montage(), 7881, 14949, 11),
        (paper_dags.montage(788, 3149, 1), 7881, 14965, 11),
        (paper_dags.montage_grid(), 7881, 19583, 7),
        (paper_dags.sdss(), 48013, 67194, 5),
        (paper_dags.sdss("window"), 48013, 111916, 5),
        (paper_dags.fork_join(), 10, 16, 3),
        (paper_dags.laplace(), 9, 12, 5),
        (paper_dags.pipeline(), 300, 200, 3),
        (paper_dags.fft(4), 15, 22, 5),
        (paper_dags.gauss(5), 14, 19, 8),
    ],
    ids=lambda value: value.name if isinstance(value, PaperDag) else "",
)
def test_a_generated_dag_has_the_size_it_should(generated: PaperDag, jobs: int, arcs: int, levels: int) -> None:
    dag = generated.dag()
    assert (len(dag), len(dag.children), len(dag.levels)) == (jobs, arcs, levels)
    assert len(set(generated.jobs)) == jobs


def test_the_components_are_as_large_as_the_paper_says() -> None:
    tangles = [part for part in Plan(paper_dags.inspiral().dag()).components if part.kind == "general"]
    assert [part.jobs > 1000 for part in tangles] == [True]
    montage = Plan(paper_dags.montage().dag())
    assert max(part.jobs for part in montage.components if part.kind == "bipartite") > 1000
    sdss = Plan(paper_dags.sdss().dag())
    assert max(part.jobs for part in sdss.components if part.kind == "W") > 1500


def test_the_125_dags_of_the_batch_queue_paper_have_run_times() -> None:
    families = paper_dags.paper004_configs()
    assert {name: len(dags) for name, dags in families.items()} == dict.fromkeys(
        ("EMAN", "BLAST", "Montage", "FFT", "Gauss"), 25
    )
    assert all(dag.dag().timed == len(dag.jobs) for dags in families.values() for dag in dags)


def test_a_shuffled_dag_is_the_same_dag() -> None:
    plain = paper_dags.airsn(10)
    other = plain.shuffled(1)
    assert other.jobs != plain.jobs and sorted(other.jobs) == sorted(plain.jobs)
    assert other.dag().critical_path.seconds == plain.dag().critical_path.seconds
    assert other.dagman() != plain.dagman()
