from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from headway.cli.display.diff import unified

LONG = b"".join(b"line %d\n" % number for number in range(5000))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\nd\ne\n", b"a\nb\nc\nd\ne\nf\n"),
        (b"a\nb", b"a\nb\nc\n"),
        (b"a\nb\n", b"a\nb"),
        (b"x\n" + b"same\n" * 20 + b"y\n", b"X\n" + b"same\n" * 20 + b"Y\n"),
        (b"same\n" * 9, b"same\n" * 8),
        (b"a\r\nb\xff\n", b"a\r\nnew\r\nb\xff\n"),
        (LONG, LONG + b"more\n"),
        (LONG, b"line -1\n" + LONG[:-1]),
        (b"a\n" + LONG + b"b", b"a\n" + LONG.replace(b"line", b"LINE") + b"b"),
        (LONG.replace(b"7", b"x"), LONG),
        (b"", b"a\n"),
        (b"a\n", b""),
    ],
)
def test_a_diff_can_be_applied(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "file").write_bytes(before)
    text = "".join(unified("file", before, after)).encode("utf-8", "surrogateescape")
    subprocess.run(
        ["git", "apply", "--unidiff-zero", "-p0", "-"], input=text, cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "file").read_bytes() == after


def test_only_what_differs_is_shown_with_three_lines_around_it() -> None:
    text = list(unified("f", LONG, LONG.replace(b"line 2500\n", b"new\n")))
    assert text[:3] == ["--- f\n", "+++ f\n", "@@ -2498,7 +2498,7 @@\n"]
    assert text[3:] == [
        *(" line 2497\n", " line 2498\n", " line 2499\n", "-line 2500\n", "+new\n"),
        *(" line 2501\n", " line 2502\n", " line 2503\n"),
    ]
