"""The arithmetic of ClassAds that submit files use in $INT, $REAL and queue counts, and C's number formats."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from headway.model.errors import ModelError, shown

Number = int | float

_TOKEN = re.compile(
    r"\s*(?:(?P<real>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(?P<whole>\d+)|(?P<word>[A-Za-z]+)"
    r"|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>!?:]))"
)
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_LONGEST = 1000  # characters of an expression: nobody writes longer ones, and depth is bounded with length
_DEEPEST = 30
_TRUTH = {
    **dict.fromkeys(("t", "yes", "true", "1"), True),
    **dict.fromkeys(("f", "no", "false", "0", "undefined"), False),
}
_BOUND = 2**63  # HTCondor computes with 64 bits


class _WrongExpressionError(Exception):
    """This is no arithmetic; the caller says of what."""


def number(text: str) -> Number:
    """The value of an expression; ModelError if it is none."""
    if text.isdecimal() and len(text) < 19:  # as most are, a hundred thousand times over
        return int(text)
    try:
        value = _Evaluation(text).whole()
    except (_WrongExpressionError, ZeroDivisionError, OverflowError):
        raise ModelError(
            f"{shown(text)} is no number that can be computed.", 'Expected such as "3" or "2 * 4".'
        ) from None
    return value


def whole_number(text: str) -> int:
    """The value of an expression without its fraction."""
    return math.trunc(number(text))


def truth(text: str) -> bool | None:
    """Whether a condition always holds or never does; None if that takes a machine or a job to say."""
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    try:
        return bool(number(text))
    except ModelError:
        return None


class _Evaluation:
    """One pass over the tokens: a level of precedence calls the next."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise _WrongExpressionError
        self.tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise _WrongExpressionError
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind]))
            at = match.end()
        self.at = 0

    def whole(self) -> Number:
        value = self.choice(0)
        if self.at < len(self.tokens):
            raise _WrongExpressionError
        return value

    def taken(self, *signs: str) -> str:
        """The next sign if it is one of these, which is then behind us."""
        if self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if kind == "sign" and text in signs:
                self.at += 1
                return text
        return ""

    def choice(self, depth: int) -> Number:
        if depth > _DEEPEST:
            raise _WrongExpressionError
        value = self.level(0, depth)
        if not self.taken("?"):
            return value
        yes = self.choice(depth + 1)
        if not self.taken(":"):
            raise _WrongExpressionError
        no = self.choice(depth + 1)
        return yes if value else no

    def level(self, level: int, depth: int) -> Number:
        if level == len(_LEVELS):
            return self.operand(depth)
        value = self.level(level + 1, depth)
        while sign := self.taken(*_LEVELS[level]):
            value = _bounded(_applied(sign, value, self.level(level + 1, depth)))
        return value

    def operand(self, depth: int) -> Number:
        signs = []
        while sign := self.taken("-", "+", "!"):
            signs.append(sign)
        value = self.atom(depth)
        for sign in reversed(signs):
            value = -value if sign == "-" else int(not value) if sign == "!" else value
        return value

    def atom(self, depth: int) -> Number:
        if self.taken("("):
            value = self.choice(depth + 1)
            if not self.taken(")"):
                raise _WrongExpressionError
            return value
        if self.at == len(self.tokens):
            raise _WrongExpressionError
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "whole" and len(text) < 20:
            return _bounded(int(text))
        if kind == "real":
            return _bounded(float(text))
        if kind == "word" and text.lower() in ("true", "false"):
            return int(text.lower() == "true")
        raise _WrongExpressionError


def _bounded(value: Number) -> Number:
    if not -_BOUND <= value < _BOUND:  # nan as well
        raise _WrongExpressionError
    return value


def _applied(sign: str, left: Number, right: Number) -> Number:
    if sign in _ARITHMETIC:
        return _ARITHMETIC[sign](left, right)
    if sign == "/":
        exact = isinstance(left, int) and isinstance(right, int)
        return int(abs(left) // abs(right)) * (1 if (left < 0) == (right < 0) else -1) if exact else left / right
    if not isinstance(left, int) or not isinstance(right, int):
        raise _WrongExpressionError
    if sign == "%":
        return abs(left) % abs(right) * (-1 if left < 0 else 1)
    if not 0 <= right < 64:
        raise _WrongExpressionError
    return left << right if sign == "<<" else left >> right


_ARITHMETIC: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "&&": lambda left, right: int(bool(left) and bool(right)),
    "||": lambda left, right: int(bool(left) or bool(right)),
}


_FORMAT = re.compile(
    r"(?P<before>[^%]*)%(?P<flags>[-+ #0]*)(?P<width>\d{0,3}(?:\.\d{0,3})?)(?:ll?)?(?P<kind>[a-zA-Z])(?P<after>[^%]*)"
)


def formatted(value: Number | str, format: str, kinds: str) -> str:
    """A value by one of C's formats, if that is of one of these kinds."""
    match = _FORMAT.fullmatch(format.strip())
    if match is None or match["kind"] not in kinds:
        raise ModelError(f"{shown(format)} is no format for such a value.", f'Expected such as "%{kinds[0]}".')
    kind = match["kind"]
    if kind in "xXo" and isinstance(value, int) and value < 0:
        value += 2**64
    if kind == "c":
        value = chr(int(value) & 0x7F)
    try:
        text = f"%{match['flags']}{match['width']}{kind}" % value
    except (ValueError, TypeError, OverflowError):
        raise ModelError(
            f"{shown(format)} is no format for such a value.", f'Expected such as "%{kinds[0]}".'
        ) from None
    return match["before"] + text + match["after"]
