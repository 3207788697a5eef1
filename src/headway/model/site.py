"""A site: where placeholders can be started, and what a workflow may find there."""

from __future__ import annotations

from headway.model.job import Pairs
from headway.model.record import record


@record
class Program:
    """A program that a site has: its name in workflows, where it is there, and what its environment must be."""

    name: str
    path: str = ""
    environment: Pairs = ()


@record
class Site:
    """What is known of a site without asking it."""

    name: str
    processors: int
    is_up: bool = True
    programs: tuple[Program, ...] | None = None  # None: every program there is
    memory: int | None = None  # bytes that one job may have; None: not known, so anything may fit
    named: tuple[tuple[str, int], ...] = ()  # licences, GPUs: name and how many
    files: tuple[str, ...] = ()  # that are there before anything runs

    def program(self, name: str) -> Program | None:
        """The program of that name; a site that lists none has every one, under its own name."""
        if self.programs is None:
            return Program(name, name)
        return next((one for one in self.programs if one.name == name), None)
