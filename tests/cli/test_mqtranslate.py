from __future__ import annotations

from pathlib import Path

from headway.live.reading.read import read
from headway.model.flatten import flatten
from tests.shell import headway

MAKEFILE = (
    "SLICES = 1110 2001\nall: 0022 0031\n\n2100:\n\t2100.sh\n$(SLICES): 2100\n\t$@.sh\n0120: 1110\n\t0120.sh\n"
    "1011: $(SLICES)\n\t1011.sh\n0021: 0120 1011\n\t0021.sh\n0022: 0021\n\t0022.sh\n0031: 0021\n\t0031.sh\n"
)
TRANSLATED = """\
all: 0022 0031

2100:
	mqsub -deps "" -l "2100" -c "2100.sh"
1110: 2100
	mqsub -deps "2100" -l "1110" -c "1110.sh"
0120: 1110
	mqsub -deps "1110" -l "0120" -c "0120.sh"
2001: 2100
	mqsub -deps "2100" -l "2001" -c "2001.sh"
1011: 1110 2001
	mqsub -deps "1110 2001" -l "1011" -c "1011.sh"
0021: 0120 1011
	mqsub -deps "0120 1011" -l "0021" -c "0021.sh"
0022: 0021
	mqsub -deps "0021" -l "0022" -c "0022.sh"
0031: 0021
	mqsub -deps "0021" -l "0031" -c "0031.sh"

.PHONY: all 2100 1110 0120 2001 1011 0021 0022 0031
"""


def test_a_translation_looks_like_figure_13(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    done = headway("Makefile", cwd=tmp_path, program="mqtranslate")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == TRANSLATED


def test_a_translation_submits_the_same_dag(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    done = headway("Makefile", "-o", "Makefile.mq", cwd=tmp_path, program="mqtranslate")
    assert (done.returncode, done.stdout) == (0, "")
    before, after = (flatten(read(tmp_path / name, format="makefile")).dag for name in ("Makefile", "Makefile.mq"))
    assert list(before.names) == list(after.names)
    assert list(before.children) == list(after.children)


def test_only_the_goals_named_are_translated(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    done = headway("Makefile", "0120", "2001", cwd=tmp_path, program="mqtranslate")
    assert done.stdout.startswith("all: 0120 2001\n\n2100:\n")
    assert "1011" not in done.stdout


def test_every_line_is_a_call_and_attributes_come_along(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text('export N = 2\nrun: in\n\t@step "$$HOME"\n\t-rm x\nin:\n')
    (tmp_path / "in").write_text("")
    done = headway("Makefile", cwd=tmp_path, program="mqtranslate")
    assert done.stdout.splitlines()[2:5] == [
        "run:",
        '\tmqsub -deps "" -l "run" -c \'step "$$HOME"\' -attr "env.N=2"',
        '\tmqsub -deps "" -l "run" -c "rm x || true" -attr "env.N=2"',
    ]


def test_what_cannot_be_read_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("a:\n  b\n")
    done = headway("Makefile", "-o", "out", cwd=tmp_path, program="mqtranslate")
    assert done.returncode == 2
    assert done.stderr.startswith("Makefile:2: missing separator")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
    done = headway("gone", cwd=tmp_path, program="mqtranslate")
    assert (done.returncode, done.stderr.startswith("gone:1: cannot be read")) == (2, True)
    assert headway(program="mqtranslate").returncode == 2


def test_only_the_makefile_has_to_be_named() -> None:
    done = headway(program="mqtranslate")
    assert done.returncode == 2 and done.stderr.rstrip().endswith("required: MAKEFILE")
