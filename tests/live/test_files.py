from pathlib import Path

import pytest

from headway.live.reading.files import Files
from headway.live.reading.read import read


@pytest.mark.parametrize(
    ("kind", "expected"), [("files", ["a.dat", "b.dat"]), ("dirs", ["c.dat"]), ("any", ["a.dat", "b.dat", "c.dat"])]
)
def test_patterns_match_files_folders_or_both(tmp_path: Path, kind: str, expected: list[str]) -> None:
    for name in ("b.dat", "a.dat", "x.txt"):
        (tmp_path / name).touch()
    (tmp_path / "c.dat").mkdir()
    assert Files().matches(str(tmp_path), "*.dat", kind) == expected


def test_a_submit_file_queues_what_matches(tmp_path: Path) -> None:
    (tmp_path / "one.dat").touch()
    (tmp_path / "x.sub").write_text("executable = /bin/cat\narguments = $(file)\nqueue file matching *.dat\n")
    assert [job.command for _, group in read(tmp_path / "x.sub").walk() for job in group.jobs] == ["/bin/cat one.dat"]
