"""WfFormat, the JSON of WfCommons: versions 1.5 and 1.6."""

from headway.formats.wfformat.reader import parse
from headway.formats.wfformat.writer import render, render_1_6

__all__ = ["parse", "render", "render_1_6"]
