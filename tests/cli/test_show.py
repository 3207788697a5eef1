from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.shell import answer, headway

DIAMOND = "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nJOB D a.sub\nPARENT A CHILD B C\nPARENT B C CHILD D\n"

COUNT = {"type": "integer", "minimum": 0}
SECONDS = {"type": ["number", "null"]}
SHOW = {
    "type": "object",
    "required": [
        *("schema", "name", "format", "jobs", "arcs", "groups", "levels", "width", "critical_path", "work_seconds"),
        *("warnings", "level_sizes", "milestones", "dropped_dependencies", "special", "features", "minimal_schedule"),
    ],
    "properties": {
        "schema": {"const": 1},
        "name": {"type": "string"},
        "format": {"type": "string"},
        "jobs": COUNT,
        "arcs": COUNT,
        "groups": COUNT,
        "levels": COUNT,
        "width": COUNT,
        "critical_path": {
            "type": "object",
            "required": ["seconds", "jobs"],
            "properties": {"seconds": SECONDS, "jobs": {"type": "array", "items": {"type": "string"}}},
        },
        "work_seconds": SECONDS,
        "level_sizes": {"type": "array", "items": COUNT},
        "special": {"type": "object", "additionalProperties": {"enum": ["final", "provisioner", "service"]}},
        "features": {"type": "object"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}


@pytest.fixture
def diamond(tmp_path: Path) -> Path:
    (tmp_path / "a.sub").write_text("executable = /bin/true\nqueue\n")
    (tmp_path / "diamond.dag").write_text(DIAMOND)
    return tmp_path / "diamond.dag"


def test_the_json_answer_keeps_its_schema(diamond: Path) -> None:
    found = answer("show", str(diamond))
    jsonschema.validate(found, SHOW)
    assert [found[key] for key in ("name", "format", "jobs", "arcs", "groups", "levels", "width")] == [
        *("diamond", "dagman"),
        *(4, 4, 4, 3, 2),
    ]
    assert found["critical_path"] == {"seconds": None, "jobs": ["A", "B", "D"]}


def test_run_times_give_critical_path_work_and_minimal_schedule(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text(
        'mqsub -l A -c a -attr seconds=2\nmqsub -deps "A" -l B -c b -attr seconds=3\n'
        'mqsub -deps "A" -l C -c c -attr seconds=4\nmqsub -deps "B C" -l D -c d\n'
    )
    found = answer("show", str(tmp_path / "w.sh"))
    jsonschema.validate(found, SHOW)
    assert found["critical_path"] == {"seconds": 6.0, "jobs": ["A", "C", "D"]}
    assert (found["work_seconds"], found["minimal_schedule"]) == (9.0, {"seconds": 6.0, "concurrency": 2})
    assert "run times are known for 3 of 4 jobs" in found["warnings"][0]


def test_people_see_the_same_numbers(diamond: Path) -> None:
    shown = headway("show", str(diamond)).stdout
    assert "jobs              4" in shown and "A → B → D" in shown


def test_one_job_can_be_looked_at(diamond: Path) -> None:
    found = answer("show", str(diamond), "--job", "D")
    assert (found["job"], found["parents"], found["children"], found["level"]) == ("D", ["B", "C"], [], 3)
    assert "a.sub" in headway("show", str(diamond), "--job", "D").stdout


def test_a_job_that_is_not_there_is_exit_code_4(diamond: Path) -> None:
    done = headway("show", str(diamond), "--job", "X")
    assert done.returncode == 4 and 'no job "X"' in done.stderr


def test_the_format_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "strange").write_text(DIAMOND)
    assert answer("show", str(tmp_path / "strange"), "--format", "dagman")["jobs"] == 4
    done = headway("show", str(tmp_path / "strange"), "--format", "dagmen")
    assert done.returncode == 2 and "dagman" in done.stderr
    done = headway("show", str(tmp_path / "strange"), "--format", "dot")
    assert done.returncode == 2 and "not to read" in done.stderr


def test_only_json_goes_to_standard_output(diamond: Path) -> None:
    (diamond.parent / "a.sub").unlink()
    done = headway("show", str(diamond), "--json")
    assert len(done.stdout.splitlines()) == 1 and json.loads(done.stdout)["warnings"]


def test_any_byte_in_a_name_survives(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_bytes(b"JOB \xff\xfe a.sub\n")
    done = headway("show", str(tmp_path / "x.dag"))
    assert done.returncode == 0 and "\udcff\udcfe" in done.stdout
    assert answer("show", str(tmp_path / "x.dag"))["critical_path"]["jobs"] == ["\udcff\udcfe"]


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "x.dag").write_text("".join(f"JOB A{i} a.sub\n" for i in range(200_000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", "convert", str(tmp_path / "x.dag"), "--to", "dagman"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    talk = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() in (0, 141) and "Traceback" not in talk and "rror" not in talk
