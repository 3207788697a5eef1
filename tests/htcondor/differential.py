"""Random DAGs on a real pool and in Headway, every fact compared.

    python -m tests.htcondor.differential [SEED | FIRST-LAST]… [--batch N] [--keep FOLDER] [--pool FOLDER]

Without seeds it takes two hundred. It prints a line for each fact that differs, and exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from tests.htcondor.random_dags import Case, case
from tests.htcondor.sides import Facts, gathered, here, lengths, on_the_pool
from tests.infra.htcondor import Pool, pool

FAILED = 3  # what Headway exits with where DAGMan says 1


def compared(pool: Pool, cases: Sequence[Case], folder: Path) -> dict[int, list[str]]:
    """What differs for each DAG: when it is run, run again where that left a rescue file, and run from that file."""
    theirs = {one.seed: pool.workplace(f"d{one.seed}") for one in cases}
    ours = {one.seed: folder / f"{one.seed}" for one in cases}
    for one in cases:
        ours[one.seed].mkdir()
        one.write(ours[one.seed])
        one.write(theirs[one.seed])
    expected = _both(pool, cases, theirs, ours)
    found = {seed: mine.differences(its) for seed, (mine, its) in expected.items()}
    again = [one for one in cases if any(name.startswith("x.dag.") for name in expected[one.seed][0].rescues)]
    rescued = {one.seed: folder / f"{one.seed}-rescued" for one in again}
    for seed, other in rescued.items():  # another store, which knows nothing but what DAGMan's own rescue file says
        shutil.copytree(ours[seed], other, ignore=shutil.ignore_patterns(".headway*", "*.rescue*", "*.jobstate"))
        for rescue in theirs[seed].glob("*.rescue*"):
            shutil.copy(rescue, other)
    for seed, (mine, its) in _both(pool, again, theirs, ours, "--retry").items():
        found[seed] += [f"run again: {line}" for line in mine.differences(its)]
        one, other = case(seed), rescued[seed]
        before = lengths(other)
        its = gathered(one, other, before, here(other))
        found[seed] += [f"from DAGMan's rescue file: {line}" for line in mine.differences(its)]
    return found


def _both(
    pool: Pool, cases: Sequence[Case], theirs: Mapping[int, Path], ours: Mapping[int, Path], *words: str
) -> dict[int, tuple[Facts, Facts]]:
    """Runs DAGs on both sides at once; what came of each, DAGMan's first."""
    before = {one.seed: (lengths(theirs[one.seed]), lengths(ours[one.seed])) for one in cases}
    found = {}
    with ThreadPoolExecutor(2) as threads:
        running = {one.seed: threads.submit(here, ours[one.seed], *words) for one in cases}
        codes = on_the_pool(pool, {one.seed: theirs[one.seed] for one in cases})
        for one in cases:
            code, (first, second) = codes[one.seed], before[one.seed]
            mine = gathered(one, theirs[one.seed], first, FAILED if code == 1 else code)
            found[one.seed] = mine, gathered(one, ours[one.seed], second, running[one.seed].result())
    return found


def _seeds(words: Sequence[str]) -> list[int]:
    found: list[int] = []
    for word in words:
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", default=["0-199"])
    parser.add_argument("--batch", type=int, default=20, help="DAGs that the pool runs at once")
    parser.add_argument("--keep", type=Path, help="an empty folder for what Headway ran, to look at afterwards")
    parser.add_argument("--pool", type=Path, help="a pool that tests/infra/condor-up has started")
    asked = parser.parse_args()
    seeds, differing = _seeds(asked.seeds), 0
    place = nullcontext(str(asked.keep)) if asked.keep else tempfile.TemporaryDirectory()
    with place as folder, nullcontext(Pool(asked.pool)) if asked.pool else pool(cpus=40) as running:
        for at in range(0, len(seeds), asked.batch):
            batch = [case(seed) for seed in seeds[at : at + asked.batch]]
            for seed, lines in compared(running, batch, Path(folder)).items():
                differing += bool(lines)
                for line in lines:
                    print(f"{seed}: {line}", flush=True)
            print(f"{at + len(batch)} DAGs run, {differing} differ", file=sys.stderr, flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
