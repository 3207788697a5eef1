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


def test_a_nodes_command_setting_and_processes_come_from_its_submit_file(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text(
        'executable = a.sh\narguments = $(x) $(Process)\nenvironment = "P=1"\ninitialdir = run\n'
        "output = $(JOB).out\nrequest_cpus = 2\nqueue 3\n"
    )
    dag = tmp_path / "x.dag"
    dag.write_text(
        'JOB A a.sub\nVARS A x="v w"\nSCRIPT DEFER 4 60 PRE A pre.sh $JOB\nFINAL F {\nexecutable = /bin/f\n}\n'
    )
    found = answer("show", str(dag), "--job", "A")
    assert (found["kind"], found["command"], found["processes"]) == ("job", "../a.sh v w 0", 3)
    assert found["commands"] == [f"../a.sh v w {number}" for number in range(3)]
    assert found["attributes"] == {"cores": "2", "directory": "run", "stdout": "A.out", "env.P": "1"}
    assert (found["description"], found["variables"], found["warnings"]) == ("a.sub", {"x": "v w"}, [])
    said = headway("show", str(dag), "--job", "A").stdout
    assert "../a.sh v w 2" in said and "pre command = pre.sh $JOB" in said and "pre defer = 4 60" in said
    last = answer("show", str(dag), "--job", "F")
    assert (last["kind"], last["command"], last["processes"], last["commands"]) == ("final", "/bin/f", 1, [])


def test_a_job_whose_submit_file_is_missing_or_wrong_is_shown_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "b.sub").write_text('executable = b\narguments = "open\nqueue\n')
    (tmp_path / "x.dag").write_text("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n")
    for name, said in (("A", '"a.sub" is missing'), ("B", "b.sub:2: a double quote is not closed")):
        found = answer("show", str(tmp_path / "x.dag"), "--job", name)
        assert (found["command"], found["processes"]) == (None, None) and said in found["warnings"][0]
        assert said in headway("show", str(tmp_path / "x.dag"), "--job", name).stdout


def test_a_node_that_asks_for_its_parents_is_told_them(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("executable = /bin/a\narguments = $(DAG_PARENT_NAMES)\nqueue\n")
    (tmp_path / "x.dag").write_text("JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nPARENT A B CHILD C\n")
    assert answer("show", str(tmp_path / "x.dag"), "--job", "C")["command"] == "/bin/a A,B"


def test_subdag_noop_service_and_provisioner_nodes_can_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("executable = /bin/a\nqueue\n")
    dag = tmp_path / "x.dag"
    dag.write_text("SUBDAG EXTERNAL S in.dag\nJOB N a.sub NOOP\nSERVICE V a.sub\nPROVISIONER P a.sub\n")
    found = {name: answer("show", str(dag), "--job", name) for name in "SNVP"}
    assert [found[name]["kind"] for name in "SNVP"] == ["job", "job", "service", "provisioner"]
    assert [found[name]["command"] for name in "SNVP"] == ["headway run in.dag", ":", "/bin/a", "/bin/a"]


def test_a_job_that_is_not_there_is_told_with_those_that_are(diamond: Path) -> None:
    assert '"A", "B", "C", "D"' in headway("show", str(diamond), "--job", "nonsense").stderr


def test_settings_of_a_dag_are_told_in_words_not_in_python(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text("JOB A a.sub\nNODE_STATUS_FILE st 30\nDOT x.dot UPDATE\n")
    said = headway("show", str(tmp_path / "x.dag")).stdout
    assert "status_file=st 30" in said and "dot=x.dot UPDATE" in said and "(" not in said.split("settings")[1]
