"""Macros and functions of submit files; the expected values are what condor_submit gives."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.submit.expression import number
from headway.formats.submit.macros import Expansion
from headway.model.errors import ModelError

VALUES = {
    "n": "abcdef",
    "k": "1",
    "list": "x,y,z",
    "v": "$(k)+5",
    "w": "hello world",
    "empty": "",
    "path": "/one/two/three.four.txt",
    "hidden": ".hid",
    "a": "$(b)",
    "b": "$(a)",
}


def expanded(text: str, warnings: list[str] | None = None) -> str:
    return Expansion(VALUES.get, (warnings if warnings is not None else []).append).of(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[$(N)]", "[abcdef]"),
        ("[$(unknown)]", "[]"),
        ("$(unknown:a b)", "a b"),
        ("$(unknown:(y))", "(y)"),
        ("$(unknown:a)b)", "ab)"),
        ("$(unknown:$(k))", "1"),
        ("$(empty:z)|$(empty)", "z|"),
        ("$(a b) $x ${x} $ $(n", "$(a b) $x ${x} $ $(n"),
        ("$(DOLLAR)(n) $(DOLLAR)ENV(HOME)", "$(n) $ENV(HOME)"),
        ("$$(DOLLARDOLLAR)(n)", "$$(n)"),
        ("$UNKNOWN(x) $$ENV(HOME) $$", "$UNKNOWN(x) $$ENV(HOME) $$"),
        ("$F(path)", "/one/two/three.four.txt"),
        ("$Fp(path) $Fpb(path)", "/one/two/ /one/two"),
        ("$Fd(path) $Fdb(path) $Fpdnx(path)", "two/ two two/three.four.txt"),
        ("$Fn(path) $Fx(path) $Fxb(path) $Fnx(path)", "three.four .txt txt three.four.txt"),
        ("$Fw(path)", "\\one\\two\\three.four.txt"),
        ("$Fq(path) $Fnxqa(path)", "\"/one/two/three.four.txt\" 'three.four.txt'"),
        ("$Fn(hidden) [$Fx(hidden)]", ".hid []"),
        ("$Fn(/tmp/simulate.exe) $Fnx($(path))", "simulate three.four.txt"),
        ("$DIRNAME(path) $BASENAME(path)", "/one/two/ three.four.txt"),
        ("$Fz(path)", "$Fz(path)"),
        ("$INT(3) $INT(3+4) $INT(v) $INT(v,%03d)", "3 7 6 006"),
        ("$INT(3.7) $INT(7/2) $INT(-7/2) $INT(7%3) $INT(-4)", "3 3 -3 1 -4"),
        ("$INT(5 > 3) $INT(true) $INT(1 ? 2 : 3) $INT((1+2)*3) $INT(1<<4)", "1 1 2 9 16"),
        ("$INT(10,%o) $INT(255,%x) $INT(3,%-4d)| $INT(65,%c) $INT(1,%ld)", "12 ff 3   | A 1"),
        ("$REAL(2) $REAL(1/3.0) $REAL(12345678.9) $REAL(v,%.2f)", "2 0.3333333333333333 12345678.9 6.00"),
        ('$STRING(v) $STRING("abc") $STRING(w,%12s)', "1+5 abc  hello world"),
        ("$EVAL(v) $EVAL(word)", "6 word"),
        ("$SUBSTR(n,2) $SUBSTR(n,0,-2) $SUBSTR(n,1,3) $SUBSTR(n,-1)", "cdef abcd bcd f"),
        ("[$SUBSTR(n,4,-3)$SUBSTR(n,10)$SUBSTR(unknown,1)] $SUBSTR(n,-10,3) $SUBSTR(n,k)", "[] abc bcdef"),
        ("$CHOICE(1,a,b,c) $CHOICE(k,list) $CHOICE(1+1, a , b, c )", "b y c"),
    ],
)
def test_macros_have_the_values_that_htcondor_gives_them(text: str, value: str) -> None:
    assert expanded(text) == value


@pytest.mark.parametrize(
    ("text", "value", "about"),
    [
        ("$ENV(HOME)/x", "/x", "HOME"),
        ("$ENV(HOME:/home/me)/x", "/home/me/x", "HOME"),
        ("$RANDOM_CHOICE(a,b)", "a", "RANDOM_CHOICE"),
        ("$RANDOM_INTEGER(3,9)", "3", "RANDOM_INTEGER"),
        ("$$(Arch) $$(x:$(k))", "$$(Arch) $$(x:1)", "machine"),
        ("$Ff(hidden)", ".hid", "full path"),
    ],
)
def test_what_is_known_only_at_submission_gets_a_warning(text: str, value: str, about: str) -> None:
    warnings: list[str] = []
    assert expanded(text, warnings) == value
    assert about in warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        *("$(a)", "$INT(abc)", "$INT(1/0)", "$INT(1,%s)", "$INT(3,abc)", "$INT(1,%5000d)", "$REAL(1e999)"),
        *("$SUBSTR(n)", "$SUBSTR(n,x)", "$CHOICE(5,a,b)", "$CHOICE(-1,a,b)", "$CHOICE(1)", "$INT(2**3)"),
        "$INT(" + "9" * 5000 + ")",
        "$INT(" + "(" * 400 + "1" + ")" * 400 + ")",
        "$(x:" * 400 + "1" + ")" * 400,
    ],
)
def test_a_macro_without_a_value_is_an_error(text: str) -> None:
    with pytest.raises(ModelError):
        expanded(text)


def test_a_circle_is_told_as_the_circle() -> None:
    with pytest.raises(ModelError, match=r"a -> b -> a"):
        expanded("x $(a)")


def test_macros_that_double_again_and_again_end_in_an_error() -> None:
    doubling = {f"m{n}": f"$(m{n + 1})$(m{n + 1})" for n in range(40)}
    for last in ("", "word"):
        with pytest.raises(ModelError, match="without end"):
            Expansion({**doubling, "m40": last}.get, print).of("$(m0)")


@given(st.text(alphabet="0123456789+-*/%()<>=!?:&|. e", max_size=40))
def test_any_expression_is_a_number_or_an_error(text: str) -> None:
    with contextlib.suppress(ModelError):
        assert -(2**63) <= number(text) <= 2**63


@given(st.text(alphabet="$()abkn:,%dFIENT x", max_size=60))
def test_any_text_expands_or_is_an_error(text: str) -> None:
    with contextlib.suppress(ModelError):
        expanded(text)
