"""The one file that far hosts get: whole, the same every time, and read by the oldest Python that it is for."""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import headway
from headway.live.sites.shipping import MODULES, OLDEST, package

ROOT = Path(headway.__file__).parent
# What a far runner never does: it has no store of its own, and no workflow is read on its host.
NEVER_THERE = {
    "headway.live.doors.port",
    "headway.live.doors.serving",
    "headway.live.doors.store_end",
    "headway.live.reading.read",
    "headway.live.store.allocations",
    "headway.live.store.callers",
    "headway.live.store.database",
    "headway.live.store.files",
    "headway.live.store.growth",
    "headway.live.store.history",
    "headway.live.store.leases",
    "headway.live.store.places",
    "headway.live.store.postgres",
    "headway.live.store.progress",
    "headway.live.store.read_only",
    "headway.live.store.run_times",
    "headway.live.store.sqlite",
    "headway.live.store.sqlite_file",
    "headway.live.store.steering",
    "headway.live.store.submission",
    "headway.live.store.watching",
}


def text_of(name: str) -> str:
    return (ROOT / f"{name.replace('.', '/')}.py").read_text()


def imported(tree: ast.AST) -> Iterator[str]:
    """Modules of ours that are imported at any time, but for those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield from imported(other)
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("headway."):
            yield node.module
            for alias in node.names:
                if (ROOT.parent / f"{node.module.replace('.', '/')}/{alias.name}.py").is_file():
                    yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("headway."))
        yield from imported(node)


def test_all_that_is_imported_there_is_in_it() -> None:
    shipped = {f"headway.{name}".removesuffix(".__init__") for name in MODULES}
    missing = {
        f"{name} imports {one}"
        for name in MODULES
        for one in imported(ast.parse(text_of(name)))
        if one not in shipped | NEVER_THERE
    }
    assert not missing


def test_its_modules_are_in_the_language_of_the_oldest_python() -> None:
    for name in MODULES:
        ast.parse(text_of(name), name, feature_version=OLDEST)


def test_the_same_modules_make_the_same_file() -> None:
    first = package()
    package.cache_clear()
    assert package() == first


def test_it_can_be_run_as_it_is() -> None:
    with zipfile.ZipFile(io.BytesIO(package().data)) as packed:
        assert "__main__.py" in packed.namelist()
        assert packed.testzip() is None
