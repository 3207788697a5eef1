from __future__ import annotations

import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.shell import answer, headway

PRIO = {
    "type": "object",
    "required": ["schema", "priorities", "files_changed", "by", "style", "dry_run", "warnings"],
    "properties": {
        "schema": {"const": 1},
        "priorities": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
        "files_changed": {"type": "array", "items": {"type": "string"}},
        "by": {"type": ["string", "null"]},
        "style": {"enum": ["priority", "vars", None]},
        "dry_run": {"type": "boolean"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}
DAG = b"# mine\nJOB A a.sub\nJOB B a.sub\nJOB C a.sub\nPARENT C CHILD B"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.dag").write_bytes(DAG)
    (tmp_path / "a.sub").write_bytes(b"executable = /bin/true\nqueue\n")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_json_answer_keeps_its_schema(folder: Path) -> None:
    found = answer("prio", "x.dag", "--by", "critical-path", cwd=folder)
    jsonschema.validate(found, PRIO)
    assert (found["priorities"], found["files_changed"]) == ({"A": 1, "B": 1, "C": 2}, ["x.dag"])
    again = answer("prio", "x.dag", "--by", "critical-path", cwd=folder)
    assert again == {**found, "files_changed": []}


@pytest.mark.parametrize("style", ["priority", "vars"])
def test_a_dry_run_shows_the_diff_and_changes_nothing(folder: Path, style: str) -> None:
    before = contents(folder)
    words = ("prio", "x.dag", "--by", "critical-path", "--style", style)
    shown = headway(*words, "--dry-run", cwd=folder)
    assert shown.returncode == 0 and contents(folder) == before
    assert answer(*words, "--dry-run", cwd=folder)["files_changed"] == (
        ["x.dag"] if style == "priority" else ["x.dag", "a.sub"]
    )
    assert contents(folder) == before
    subprocess.run(["git", "apply", "-p0", "-"], input=shown.stdout.encode(), cwd=folder, check=True)
    patched = contents(folder)
    for name, text in before.items():
        (folder / name).write_bytes(text)
    assert headway(*words, cwd=folder).returncode == 0 and contents(folder) == patched != before


@pytest.mark.parametrize("style", ["priority", "vars"])
def test_undo_restores_every_byte(folder: Path, style: str) -> None:
    before = contents(folder)
    assert headway("prio", "x.dag", "--by", "fifo", "--style", style, cwd=folder).returncode == 0
    assert contents(folder) != before
    done = headway("prio", "x.dag", "--undo", cwd=folder)
    assert done.returncode == 0 and "changed" in done.stdout and contents(folder) == before
    found = answer("prio", "x.dag", "--undo", cwd=folder)
    jsonschema.validate(found, PRIO)
    assert found["files_changed"] == [] and contents(folder) == before


def test_an_undo_can_be_looked_at_first(folder: Path) -> None:
    headway("prio", "x.dag", "--by", "fifo", cwd=folder)
    before = contents(folder)
    shown = headway("prio", "x.dag", "--undo", "--dry-run", cwd=folder)
    assert "-PRIORITY A 1\n" in shown.stdout and contents(folder) == before


def test_people_are_told_what_changed(folder: Path) -> None:
    words = ("prio", "x.dag", "--by", "critical-path")
    assert headway(*words, cwd=folder).stdout == "priorities for 3 jobs, 2 to 1: changed x.dag.\n"
    assert headway(*words, cwd=folder).stdout == "priorities for 3 jobs, 2 to 1: nothing to change.\n"


def test_the_instrumented_dag_is_still_the_same_workflow(folder: Path) -> None:
    before = answer("show", "x.dag", cwd=folder)
    headway("prio", "x.dag", "--by", "critical-path", "--style", "vars", cwd=folder)
    after = answer("show", "x.dag", cwd=folder)
    assert after["features"].pop("variables") == 3 and after == before
    assert answer("show", "x.dag", "--job", "C", cwd=folder)["variables"] == {"JOBPRIORITY": "2"}


def test_a_missing_submit_file_is_a_warning_and_with_vars_an_error_that_changes_nothing(folder: Path) -> None:
    (folder / "x.dag").write_bytes(DAG + b"\nJOB D gone.sub\n")
    before = contents(folder)
    done = headway("prio", "x.dag", "--by", "fifo", "--style", "vars", cwd=folder)
    assert done.returncode == 2 and contents(folder) == before
    assert done.stderr.startswith('x.dag:6: submit file "gone.sub" of node "D" is not there. ')
    done = headway("prio", "x.dag", "--by", "fifo", cwd=folder)
    assert done.returncode == 0 and 'warning: submit file "gone.sub"' in done.stderr
    assert contents(folder)["x.dag"].count(b"PRIORITY") == 4


def test_a_read_only_submit_file_leaves_all_untouched(folder: Path) -> None:
    (folder / "a.sub").chmod(0o444)
    before = contents(folder)
    done = headway("prio", "x.dag", "--by", "fifo", "--style", "vars", cwd=folder)
    assert done.returncode == 1 and "a.sub: cannot be changed: it is read-only" in done.stderr
    assert contents(folder) == before


def test_one_submit_file_under_two_names_is_changed_once(folder: Path) -> None:
    (folder / "b.sub").symlink_to("a.sub")
    (folder / "x.dag").write_bytes(b"JOB A a.sub\nJOB B b.sub\nJOB C ./a.sub\n")
    found = answer("prio", "x.dag", "--by", "fifo", "--style", "vars", cwd=folder)
    assert found["files_changed"] == ["x.dag", "a.sub"] and (folder / "b.sub").is_symlink()
    assert (folder / "a.sub").read_bytes().count(b"priority = ") == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.dag", b"", "empty.dag:1: the file is empty."),
        ("binary.dag", b"JOB A\0 a.sub\n", "binary.dag:1: this is a binary file."),
        ("Makefile", b"all: a\n\techo\n", "Makefile:1: this is no DAGMan file."),
        ("packed.dag", b"\x1f\x8b\x08\0", "packed.dag:1: "),
        ("wrong.dag", b"JOB A a.sub\nPRIORITY A\n", "wrong.dag:2: PRIORITY is not complete."),
        ("round.dag", b"JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nPARENT B CHILD A\n", "round.dag:4: cycle"),
        ("x.dag.rescue001", b"DONE A\n", "x.dag.rescue001:1: this is a rescue file."),
    ],
)
def test_what_is_no_dag_is_told_in_a_sentence(folder: Path, name: str, text: bytes, said: str) -> None:
    (folder / name).write_bytes(text)
    for words in ([], ["--undo"]) if name != "round.dag" else ([],):
        done = headway("prio", name, "--by", "critical-path", *words, cwd=folder)
        assert done.returncode == 2 and done.stderr.startswith(said) and "Traceback" not in done.stderr
        assert (folder / name).read_bytes() == text


def test_a_file_that_is_not_there_a_folder_and_standard_input_are_told(folder: Path) -> None:
    for name in ("gone.dag", ".", "-", "/dev/null"):
        done = headway("prio", name, "--by", "fifo", cwd=folder)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    done = headway("prio", "x.dag", "--by", "best", cwd=folder)
    assert done.returncode == 2 and 'no order "best"' in done.stderr


def test_a_packed_dag_is_to_be_unpacked_first(folder: Path) -> None:
    import gzip

    (folder / "x.dag.gz").write_bytes(gzip.compress(DAG))
    done = headway("prio", "x.dag.gz", "--by", "fifo", cwd=folder)
    assert done.returncode == 2 and done.stderr == (
        "x.dag.gz:1: the file is packed, so it cannot be changed. Unpack it first.\n"
    )


def test_splices_nested_beyond_reason_are_told(folder: Path) -> None:
    for number in range(1500):
        (folder / f"{number}.dag").write_text(f"SPLICE S {number + 1}.dag\n")
    (folder / "1500.dag").write_text("JOB A a.sub\n")
    done = headway("prio", "0.dag", cwd=folder)
    assert done.returncode == 2 and "nested too deeply" in done.stderr and "Traceback" not in done.stderr


def test_an_ordinary_dag_of_one_job_and_one_of_none_are_fine(folder: Path) -> None:
    (folder / "x.dag").write_bytes(b"JOB A a.sub\n")
    assert answer("prio", "x.dag", "--by", "critical-path", cwd=folder)["priorities"] == {"A": 1}
    (folder / "x.dag").write_bytes(b"# nothing yet\nFINAL F a.sub\n")
    found = answer("prio", "x.dag", "--by", "critical-path", cwd=folder)
    assert (found["priorities"], found["files_changed"]) == ({}, [])


def test_a_hundred_thousand_jobs_are_instrumented_and_restored(folder: Path) -> None:
    text = b"".join(b"JOB N%d a.sub\n" % number for number in range(100_000))
    text += b"".join(b"PARENT N0 CHILD N%d\n" % number for number in range(1, 50_000))
    (folder / "x.dag").write_bytes(text)
    found = answer("prio", "x.dag", "--by", "critical-path", cwd=folder)
    assert len(found["priorities"]) == 100_000 and found["priorities"]["N0"] == 2
    assert headway("prio", "x.dag", "--by", "fifo", "--dry-run", cwd=folder).stdout.count("\n+PRIORITY") == 1
    assert headway("prio", "x.dag", "--undo", cwd=folder).returncode == 0
    assert (folder / "x.dag").read_bytes() == text
