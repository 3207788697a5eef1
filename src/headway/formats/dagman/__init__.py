"""HTCondor DAGMan files: the whole language, read as DAGMan's own parser reads it, and written."""

from headway.formats.dagman.reader import parse
from headway.formats.dagman.writer import render

__all__ = ["parse", "render"]
