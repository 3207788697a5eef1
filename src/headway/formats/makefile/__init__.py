"""GNU Makefiles: make itself is the parser, so includes, pattern rules, variables and functions work."""

from headway.formats.makefile.reader import parse
from headway.formats.makefile.writer import render

__all__ = ["parse", "render"]
