"""Which other DAGs of the folder use a file that is to be changed."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import cached_property

from headway.formats.dagman.outline import outline
from headway.formats.dagman.own_lines import sets_variable
from headway.formats.world import Originals
from headway.model.errors import InputError


class Sharing:
    """Looks at the folder's other DAG files when first asked."""

    def __init__(self, path: str, own: Sequence[str], world: Originals) -> None:
        self.folder = posixpath.dirname(path)
        self.own = {world.identity(file) for file in own}
        self.world = world
        self._setting: set[str] = set()

    def others(self, file: str) -> list[str]:
        """The other DAG files that name this file."""
        return self._named.get(self.world.identity(file), [])

    def users(self, file: str) -> list[str]:
        """Those of them that set the variable which this submit file may ask for."""
        return [other for other in self.others(file) if other in self._setting]

    @cached_property
    def _named(self) -> dict[str, list[str]]:
        named: dict[str, list[str]] = {}
        for name in self.world.matches(self.folder, "*.dag", "files"):
            other = posixpath.join(self.folder, name)
            if self.world.identity(other) in self.own:
                continue
            try:
                text = self.world.raw(other)
                files = outline(other, text).files
            except InputError:  # not ours to complain of
                continue
            if sets_variable(text):
                self._setting.add(other)
            for file in dict.fromkeys(files):
                named.setdefault(self.world.identity(posixpath.join(self.folder, file)), []).append(other)
        return named
