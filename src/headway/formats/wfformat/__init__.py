"""WfFormat, the JSON of WfCommons: versions 1.5 and 1.6 read, 1.5 written."""

from headway.formats.wfformat.reader import parse
from headway.formats.wfformat.writer import render

__all__ = ["parse", "render"]
