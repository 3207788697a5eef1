from __future__ import annotations

import gzip
import lzma
import stat
import subprocess
from pathlib import Path

import pytest

from tests.shell import answer, headway

SCRIPT = 'mqsub -l A -c "echo a"\nmqsub -deps "A" -l B -c "echo b" -attr seconds=3\n'


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "w.sh"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("format", ["dagman", "makefile", "flat", "wfformat"])
def test_what_is_written_shows_the_same(script: Path, format: str) -> None:
    out = script.parent / "out"
    assert headway("convert", str(script), "--to", format, "-o", str(out)).returncode == 0
    found = answer("show", str(out))
    assert (found["format"], found["jobs"], found["arcs"]) == (format, 2, 1)
    assert found["critical_path"] == {"seconds": 3.0, "jobs": ["A", "B"]} or format == "dagman"
    assert headway("convert", str(script), "--to", format, cwd=script.parent).stdout == out.read_text()


@pytest.mark.parametrize("format", ["dot", "mermaid"])
def test_pictures_are_written(script: Path, format: str) -> None:
    done = headway("convert", str(script), "--to", format)
    assert done.returncode == 0 and "A" in done.stdout and "B" in done.stdout


def test_what_a_format_cannot_say_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text("JOB A {\nexecutable = x\n}\nRETRY A 3\nSCRIPT POST A p.sh\n")
    done = headway("convert", str(tmp_path / "x.dag"), "--to", "flat")
    assert done.returncode == 0 and "post" in done.stderr and "retries=3" in done.stdout


def test_a_report_goes_with_a_file(script: Path) -> None:
    out = script.parent / "out.dag"
    found = answer("convert", str(script), "--to", "dagman", "-o", str(out))
    assert found == {"schema": 1, "output": str(out), "format": "dagman", "lost": [], "warnings": []}
    assert headway("convert", str(script), "--to", "dagman", "--json").returncode == 2


def test_a_command_that_is_not_known_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text("JOB A missing.sub\n")
    done = headway("convert", str(tmp_path / "x.dag"), "--to", "flat", "-o", str(tmp_path / "out"))
    assert done.returncode == 2 and "missing.sub" in done.stderr and not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_told(script: Path) -> None:
    done = headway("convert", str(script), "--to", "flat", "-o", str(script.parent / "no" / "out"))
    assert done.returncode == 1 and "cannot be written" in done.stderr and "Traceback" not in done.stderr


def test_a_file_is_replaced_whole_and_keeps_its_mode(script: Path) -> None:
    out = script.parent / "out"
    out.write_text("old")
    out.chmod(0o751)
    headway("convert", str(script), "--to", "flat", "-o", str(out))
    assert "mqsub" in out.read_text() and stat.S_IMODE(out.stat().st_mode) == 0o751
    assert sorted(path.name for path in script.parent.iterdir()) == ["out", "w.sh"]


def test_a_workflow_can_be_written_over_itself(script: Path) -> None:
    headway("convert", str(script), "--to", "flat", "-o", str(script))
    assert answer("show", str(script))["jobs"] == 2


PYTHON = "from headway import Workflow\nw = Workflow('w')\nw.job('A', 'a')\nw.job('B', 'b', after='A')\n"
LOOP = 'for i in 1 2; do mqsub -l "$i" -c x; done\nmqsub -deps "1" -l 3 -c y\n'
DESCRIPTION = """\
Levels = [["G", 1]]
def generateGroup(level, parent): return [[1], [2]]
def getDependent(level, group, parent): return [[1]] if group == [2] else []
def getJobsExecutables(level, group): return ["x.sh"]
"""
DAX = '<adag><job id="A" name="a"/><job id="B" name="b"/><child ref="B"><parent ref="A"/></child></adag>'
WFFORMAT = (
    '{"name": "w", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": ['
    '{"name": "a", "id": "a", "parents": [], "children": ["b"]},'
    '{"name": "b", "id": "b", "parents": ["a"], "children": []}'
    "]}}}"
)
ALL = {
    "x.dag": "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n",
    "x.sub": "executable = x\nqueue 2\n",
    "Makefile": "all: b\nb: a\n\ttouch b\na:\n\ttouch a\n",
    "x.sh": SCRIPT,
    "loop.sh": LOOP,
    "x.py": PYTHON,
    "d.py": DESCRIPTION,
    "x.json": WFFORMAT,
    "x.dax": DAX,
}


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
@pytest.mark.parametrize("name", sorted(ALL))
def test_packed_files_are_read_as_they_are(tmp_path: Path, name: str, pack: object) -> None:
    assert callable(pack)
    plain, packed = tmp_path / name, tmp_path / f"{name}.{'gz' if pack is gzip.compress else 'xz'}"
    plain.write_text(ALL[name])
    packed.write_bytes(pack(ALL[name].encode()))
    keys = ("jobs", "arcs", "levels", "format", "name")
    first, second = answer("show", str(plain)), answer("show", str(packed))
    assert [first[key] for key in keys] == [second[key] for key in keys]
    assert first["jobs"] >= 2


def test_a_macro_that_is_not_known_in_a_nodes_submit_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("executable = $ENV(NO_SUCH_NAME)/bin/x\nqueue\n")
    (tmp_path / "x.dag").write_text("JOB A a.sub\nFINAL F missing.sub\n")
    out = str(tmp_path / "out")
    for format in ("flat", "makefile", "wfformat"):
        found = answer("convert", str(tmp_path / "x.dag"), "--to", format, "-o", out)
        assert len(found["warnings"]) == 2 and "missing.sub" in found["warnings"][0]
        assert "a.sub:1: $ENV(NO_SUCH_NAME) is not set" in found["warnings"][1]
    assert "$ENV(NO_SUCH_NAME)" in headway("convert", str(tmp_path / "x.dag"), "--to", "flat").stderr


def test_what_is_lost_of_a_dag_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text(
        "JOB A {\nexecutable = /bin/a\n}\nSCRIPT PRE A p.sh\nRETRY A 2 UNLESS-EXIT 3\nABORT-DAG-ON A 1\n"
    )
    found = answer("convert", str(tmp_path / "x.dag"), "--to", "flat", "-o", str(tmp_path / "out"))
    assert found["lost"] == [
        "the exit status that forbids a retry of 1 job",
        "the pre script of 1 job",
        "ABORT-DAG-ON of 1 job",
    ]


@pytest.mark.parametrize("target", ["flat", "makefile", "dagman", "wfformat"])
@pytest.mark.parametrize("options", ["", ", directory='sub'"])
def test_jobs_run_where_they_ran_if_the_file_goes_into_another_folder(
    tmp_path: Path, target: str, options: str
) -> None:
    home, away = tmp_path / "home", tmp_path / "a way"
    (home / "sub").mkdir(parents=True)
    away.mkdir()
    text = f"from headway import Workflow\nw = Workflow('w')\nw.job('A', 'pwd > where; echo $$'{options})\n"
    (home / "w.py").write_text(text)
    ending = {"flat": "w.sh", "makefile": "Makefile", "dagman": "w.dag", "wfformat": "w.json"}[target]
    assert headway("convert", str(home / "w.py"), "--to", target, "-o", str(away / ending)).returncode == 0
    done = headway("run", str(away / ending))
    assert done.returncode == 0, done.stderr
    place = home / "sub" if options else home
    assert (place / "where").read_text() == f"{place}\n"
    if target == "makefile":  # make itself, too
        (place / "where").unlink()
        subprocess.run(["make", "-f", ending], cwd=away, check=True, capture_output=True)
        assert (place / "where").read_text() == f"{place}\n"


@pytest.mark.parametrize("target", ["flat", "makefile", "dagman", "wfformat"])
@pytest.mark.parametrize("output", [[], ["-o", "-"]])
def test_jobs_run_where_they_ran_if_the_file_is_printed_in_another_folder(
    tmp_path: Path, target: str, output: list[str]
) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    (home / "w.sh").write_text("mqsub -l A -c 'pwd > where'\n")
    ending = {"flat": "w.sh", "makefile": "Makefile", "dagman": "w.dag", "wfformat": "w.json"}[target]
    done = headway("convert", str(home / "w.sh"), "--to", target, *output, cwd=away)
    (away / ending).write_text(done.stdout)
    done = headway("run", ending, cwd=away)
    assert done.returncode == 0, done.stderr
    assert (home / "where").read_text() == f"{home}\n" and not (away / "where").exists()


@pytest.mark.parametrize("name", ["a.sub", "w.dag"])
def test_what_is_known_only_when_a_job_is_submitted_is_warned_of(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.sub").write_text(
        "executable = /bin/echo\narguments = $(clusterid)\noutput = out.$(Cluster)\nlog = log.$(Cluster)\nqueue\n"
    )
    (tmp_path / "w.dag").write_text("JOB A a.sub\nJOB B a.sub\n")
    found = answer("convert", name, "--to", "flat", "-o", "out.sh", cwd=tmp_path)
    assert found["warnings"] == [
        "a.sub:2: $(ClusterId) is known only when the job is submitted; here it is 1.",
        "a.sub:3: $(Cluster) is known only when the job is submitted; here it is 1.",
    ]
    assert answer("run", name, cwd=tmp_path)["warnings"] == []
    assert answer("convert", name, "--to", "dagman", "-o", "out.dag", cwd=tmp_path)["warnings"] == (
        [] if name == "w.dag" else found["warnings"]  # which names the submit file
    )


def test_nodes_keep_their_submit_files_if_their_dag_goes_into_another_folder(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    (home / "a.sh").write_text("#!/bin/sh\npwd > where\n")
    (home / "a.sh").chmod(0o755)
    (home / "a.sub").write_text("executable = a.sh\nqueue\n")
    (home / "w.dag").write_text("JOB A a.sub\nSCRIPT PRE A /bin/touch begun\n")
    for target, ending in (("dagman", "w.dag"), ("flat", "w.sh")):
        assert headway("convert", str(home / "w.dag"), "--to", target, "-o", str(away / ending)).returncode == 0
        done = headway("run", str(away / ending))
        assert done.returncode == 0, done.stderr
        assert (home / "where").read_text() == f"{home}\n"
        (home / "where").unlink()
    assert (home / "begun").exists()
