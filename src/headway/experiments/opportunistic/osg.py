"""The twelve sites of opportunistic.txt, as a world: Table 1, and what calibration.py found for the rest."""

from __future__ import annotations

from importlib.resources import files

from headway.sim.site_file import parse
from headway.sim.sites import World

NAME = "osg"
PATIENCE = 600.0  # seconds: the paper's user "must inform" MonitQueue of one, and does not say which


def text() -> str:
    """The file, as it could be given to --sites."""
    return files(__package__).joinpath("osg.toml").read_text("utf-8")


def world() -> World:
    return parse(text(), "osg.toml")
