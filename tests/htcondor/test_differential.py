"""Twenty random DAGs on a real pool and in Headway; CONTRIBUTING.md says how to run two hundred, or others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.htcondor.differential import compared
from tests.htcondor.random_dags import case
from tests.infra.htcondor import pool

pytestmark = pytest.mark.xdist_group("htcondor")
FIRST = int(os.environ.get("HEADWAY_SEED", "1000"))


def test_random_dags_run_here_as_they_do_in_dagman(tmp_path: Path) -> None:
    with pool(cpus=40) as running:
        found = compared(running, [case(seed) for seed in range(FIRST, FIRST + 20)], tmp_path)
    assert {seed: lines for seed, lines in found.items() if lines} == {}
