"""Durations and sizes as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model.quantities import duration, plain, seconds, size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("0", 0),
        ("0.5", 0.5),
        ("2.", 2),
        ("1e3", 1000),
        ("30m", 1800),
        ("1h", 3600),
        ("1.5h", 5400),
        ("1h 30m", 5400),
        ("1h30m10s", 5410),
        ("2d", 172_800),
        ("1w", 604_800),
        (" 5 s ", 5),
        ("1H 2M", 3720),
    ],
)
def test_a_duration_is_read_as_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "soon",
        "-1",
        "1:30",
        "1h 30",
        "10 20",
        "5x",
        "1e",
        ".",
        "inf",
        "nan",
        "1e999",
        pytest.param("9" * 5000, id="long"),
        "1h\x00",
        "\ud800",
    ],
)
def test_what_is_no_duration_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a duration "):
        seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("2048", 2048),
        ("2k", 2048),
        ("2K", 2048),
        ("512 MiB", 512 * 2**20),
        ("2G", 2**31),
        ("1.5gb", 3 * 2**29),
        ("1T", 2**40),
        ("1P", 2**50),
        ("1e3", 1000),
        (" 7 ", 7),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_a_size_is_read_as_bytes(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "much", "-1", "1 2", "5x", "inf", "nan", "1e999", pytest.param("9" * 5000, id="long"), "1G 1M", "\ud800"],
)
def test_what_is_no_size_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a size "):
        size(text)


@given(st.text())
def test_any_text_is_a_quantity_or_a_value_error(text: str) -> None:
    for read in (seconds, size):
        try:
            assert read(text) >= 0
        except ValueError as error:
            assert str(error).startswith("a ")


@given(st.floats(0, allow_nan=False, allow_infinity=False))
def test_a_number_written_plainly_reads_back_the_same(value: float) -> None:
    assert seconds(plain(value)) == value


def test_whole_numbers_are_written_without_a_point() -> None:
    assert [plain(value) for value in (3.0, 3, 0.25, 1e22)] == ["3", "3", "0.25", "1e+22"]


def test_what_is_not_finite_is_written_as_text_that_no_reader_takes() -> None:
    assert [plain(float(name)) for name in ("inf", "nan")] == ["inf", "nan"]


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (-1, "0 s"),
        (0.123, "0.12 s"),
        (9.996, "10.0 s"),
        (59.94, "59.9 s"),
        (60, "60 s"),
        (99.6, "1 min 40 s"),
        (600, "10 min 00 s"),
        (7300, "2 h 01 min"),
        (360_000, "4 d 4 h"),
        (200_000, "55 h 33 min"),
    ],
)
def test_durations_are_read_at_a_glance(length: float, text: str) -> None:
    assert duration(length) == text
