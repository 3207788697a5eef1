"""Old and new syntax of arguments and environments; the examples are those of HTCondor's manual and its answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.submit.arguments import arguments, classad_literal, classad_string, environment, quoted_words
from headway.model.errors import ModelError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (r"one \"two\" 'three'", ["one", '"two"', "'three'"]),
        ("a\tb  c\\d", ["a", "b", "c\\d"]),
        ('"3 simple arguments"', ["3", "simple", "arguments"]),
        ("\"one 'two with spaces' 3\"", ["one", "two with spaces", "3"]),
        ("\"one \"\"two\"\" 'spacey ''quoted'' argument'\"", ["one", '"two"', "spacey 'quoted' argument"]),
        ("\"a'b'c d\"", ["abc", "d"]),
        ("\"a '' '''' b\\c\"", ["a", "", "'", "b\\c"]),
        ('  "x  y"  ', ["x", "y"]),
        ('""', []),
    ],
)
def test_arguments_in_both_syntaxes(text: str, words: list[str]) -> None:
    assert arguments(text) == words


@pytest.mark.parametrize("text", ['"a" b', '"a', '"a\'b"', 'a "b" c', 'a"b', '"a \\"b\\" c"', '"a""'])
def test_arguments_with_quotes_that_do_not_match_are_errors(text: str) -> None:
    with pytest.raises(ModelError):
        arguments(text)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=1;b=2", (("a", "1"), ("b", "2"))),
        (
            "one=1;three=\"quotes have no 'special' meaning\"",
            (("one", "1"), ("three", "\"quotes have no 'special' meaning\"")),
        ),
        ("a=1; b=x y;", (("a", "1"), ("b", "x y"))),
        (
            "\"one=1 two=\"\"2\"\" three='spacey ''quoted'' value'\"",
            (("one", "1"), ("two", '"2"'), ("three", "spacey 'quoted' value")),
        ),
        ("\"'a=x y' b=\"", (("a", "x y"), ("b", ""))),
        ('"a=1;b=2"', (("a", "1;b=2"),)),
        ('"a=1 b=2 a=3"', (("b", "2"), ("a", "3"))),
    ],
)
def test_environments_in_both_syntaxes(text: str, pairs: tuple[tuple[str, str], ...]) -> None:
    assert environment(text) == pairs


@pytest.mark.parametrize("text", ["a", '"a=1 b"', '"=x"', '"a = 1"', 'a=1;b="x;y"'])
def test_an_environment_entry_needs_a_name_and_an_equals_sign(text: str) -> None:
    with pytest.raises(ModelError):
        environment(text)


@given(st.lists(st.text()))
def test_quoted_words_read_back(words: list[str]) -> None:
    assert arguments(quoted_words(words)) == words


def test_a_backslash_in_a_string_means_something_only_before_a_quote() -> None:
    assert classad_string(r'"a\"b\c\\d"') == r'a"b\c\\d'
    assert classad_string(classad_literal("""it's "a" \\x""")) == """it's "a" \\x"""


@pytest.mark.parametrize("text", ["", '"', "a", '"a"b"', '"a" + "b"'])
def test_what_is_no_string_is_an_error(text: str) -> None:
    with pytest.raises(ModelError):
        classad_string(text)
