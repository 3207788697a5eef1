from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.shell import answer, headway

NUMBER = {"type": "number"}
STATISTICS = ("min", "median", "mean", "max", "low", "high")
SITES = {
    "type": "object",
    "required": ["schema", "workflow", "jobs", "runs", "seed", "wheres", "ratios", "over", "jobs_per_second"],
    "properties": {
        "schema": {"const": 1},
        "wheres": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["makespan", "speedup", "policy", "patience", "withdrawn", "failed", "waited", "sites"],
                "properties": {
                    "makespan": {
                        "type": "object",
                        "required": [*STATISTICS],
                        "properties": dict.fromkeys(STATISTICS, NUMBER),
                    },
                    "speedup": NUMBER,
                    "sites": {"type": "object", "additionalProperties": NUMBER},
                },
            },
        },
        "ratios": {"type": "object", "additionalProperties": {"type": "array", "minItems": 3, "maxItems": 3}},
    },
}
TWO = '[sites.a]\nprocessors = 2\n[sites.b]\nprocessors = 3\nprograms = { b = "/opt/b" }\n'
WORK = "mqsub -l A -c a -attr seconds=40\nmqsub -deps A -l B -c b\n"


@pytest.fixture
def work(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "w.sh").write_text(WORK)
    (tmp_path / "s.toml").write_text(TWO)
    return str(tmp_path / "w.sh"), str(tmp_path / "s.toml")


def test_the_json_answer_keeps_its_schema() -> None:
    found = answer("simulate", "sites", "pipeline:10", "--where", "opportunistic,prompt,weighted", "--runs", "5")
    jsonschema.validate(found, SITES)
    assert (found["jobs"], list(found["wheres"]), found["over"]) == (
        30,
        ["opportunistic", "prompt", "weighted"],
        "weighted",
    )
    assert list(found["ratios"]) == ["opportunistic", "prompt"] and len(found["wheres"]["weighted"]["sites"]) == 12
    one = found["wheres"]["prompt"]
    assert one["speedup"] == pytest.approx(found["work_seconds"] / one["makespan"]["mean"])


def test_a_workflow_of_ones_own_at_sites_of_ones_own(work: tuple[str, str]) -> None:
    """B tells no run time, so it takes as long as A; b is at both sites, a only at the first."""
    found = answer("simulate", "sites", work[0], "--sites", work[1], "--where", "round-robin", "--runs", "3")
    assert found["wheres"]["round-robin"]["makespan"]["mean"] == 80 and found["ratios"] == {}
    assert found["wheres"]["round-robin"]["sites"] == {"a": 0.5, "b": 0.5}
    told = answer("simulate", "sites", work[0], "--sites", work[1], "--where", "random", "--seconds", "1m")
    assert told["work_seconds"] == 100


def test_a_seed_gives_the_same_numbers_again_and_another_one_others() -> None:
    runs = [answer("simulate", "sites", "pipeline:5", "--seed", seed)["wheres"] for seed in ("7", "7", "8")]
    assert runs[0] == runs[1] != runs[2]


def test_several_times_of_patience_are_a_sweep() -> None:
    found = answer("simulate", "sites", "pipeline:5", "--where", "random", "--patience", "0,5m,1h")
    assert list(found["wheres"]) == ["random", "random+300s", "random+3600s"]
    assert [one["patience"] for one in found["wheres"].values()] == [0, 300, 3600]


def test_people_see_a_table(work: tuple[str, str]) -> None:
    done = headway("simulate", "sites", work[0], "--sites", work[1], "--where", "prompt,random", "--patience", "10m")
    assert done.returncode == 0 and not done.stderr
    assert "speed-up" in done.stdout and "prompt / random" in done.stdout


@pytest.mark.parametrize(
    ("sites", "said"),
    [
        ("", "s.toml:1: there is no site"),
        ("[sites.a]\nprocessors = 1\nup = false\n", "no site is up: all 1 are down"),
        ("[sites.a]\nprocessors = 0\n", 's.toml:2: site "a" has 0 processors'),
        ("[sites.a]\nprocessors = 1\nlatency = -5\n", "s.toml:3: latency is -5: a time cannot be negative"),
        ("[sites.a]\nprocessors = 1\ncolour = 3\n", 's.toml:3: unknown key "colour"'),
        ("stored = []\n[sites.a]\nprocessors = 1\n", 'job "A" needs the file "input", which exists nowhere'),
        ("[sites.a]\nprocessors = 1\nprograms = {}\n", 'no site that is up has the program "a"'),
    ],
)
def test_bad_sites_are_told_in_a_sentence(sites: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c a -attr inputs=input\n")
    (tmp_path / "s.toml").write_text(sites)
    done = headway("simulate", "sites", str(tmp_path / "w.sh"), "--sites", str(tmp_path / "s.toml"))
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--where", "nobody"], 'no policy "nobody"'),
        (["--where", ","], "names no policy"),
        (["--patience", "soon"], '--patience "soon" is no time'),
        (["--sites", "missing.toml"], "cannot be read"),
        (["--runs", "0"], "--runs"),
        (["--seed", "x"], "--seed"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(options: list[str], said: str) -> None:
    done = headway("simulate", "sites", "pipeline:2", *options)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_a_name_that_no_file_can_have_is_told_in_a_sentence() -> None:
    for way in ("sites", "grid"):
        done = headway("simulate", way, "a" * 300)
        assert done.returncode == 2 and "cannot be read: File name too long" in done.stderr


def test_runs_that_did_not_finish_are_told(tmp_path: Path) -> None:
    """They are short, which is no merit of a policy."""
    (tmp_path / "s.toml").write_text("[sites.a]\nprocessors = 2\nfailing = 1\n")
    options = ["--sites", str(tmp_path / "s.toml"), "--retries", "0", "--runs", "2", "--where", "random"]
    found = answer("simulate", "sites", "pipeline:1", *options)
    one = found["wheres"]["random"]
    assert (one["failed"], one["finished"]) == (1.0, 0.0)
    assert found["warnings"] == ["jobs failed for good under random: times and speed-ups are of what ran until then."]
    assert answer("simulate", "sites", "pipeline:1", "--where", "random")["wheres"]["random"]["finished"] == 1.0


def test_an_installed_policy_is_simulated_too(tmp_path: Path) -> None:
    """It always takes the last site; no kernel knows it, so the engine runs it."""
    info = tmp_path / "lib" / "some_site-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-site\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[headway.where]\nlast = some_site:choose\n")
    (tmp_path / "lib" / "some_site.py").write_text("def choose(view, now, rng):\n    return view.candidates[-1]\n")
    call = [sys.executable, "-m", "headway", "simulate", "sites", "pipeline:4", "--where", "last,random", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    done = subprocess.run([*call, "--runs", "3"], env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    jsonschema.validate(found, SITES)
    assert found["wheres"]["last"]["sites"]["USCMS_FNAL"] == 1.0
