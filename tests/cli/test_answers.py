"""Answers in JSON are built below the command line, which only prints them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import headway.cli

COMMANDS = sorted(Path(headway.cli.__file__).parent.rglob("*.py"))
BELOW = ("headway.live.answers.", "headway.sim.", "headway.experiments.")


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_what_is_printed_as_json_was_built_below_the_command_line(path: Path) -> None:
    tree = ast.parse(path.read_text())
    below = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(BELOW)
        for alias in node.names
    }
    for function, printed in _printed(tree):
        roots = list(_roots(function, printed))
        assert roots and below.issuperset(roots), ast.unparse(printed)


def test_some_answers_are_printed() -> None:
    """So that the test above looks at something."""
    assert sum(len(list(_printed(ast.parse(path.read_text())))) for path in COMMANDS) > 15


def _printed(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What is printed as JSON, and in which function."""
    for function in ast.walk(tree):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print_json":
                yield function, node.args[0]


def _assigned(tree: ast.AST, name: str) -> list[ast.expr]:
    """All that a variable is set to."""
    found = list[ast.expr]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names = [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            found += [node.value] * (name in names)
    return found


def _roots(tree: ast.AST, source: ast.expr) -> Iterator[str]:
    """The functions whose result this is, or a part of it; variables are looked through."""
    while isinstance(source, ast.Call | ast.Attribute):
        source = source.func if isinstance(source, ast.Call) else source.value
    assert isinstance(source, ast.Name), ast.unparse(source)
    values = _assigned(tree, source.id)
    if not values:
        yield source.id
    for value in values:
        yield from _roots(tree, value)
