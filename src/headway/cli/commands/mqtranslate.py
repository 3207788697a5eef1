"""`mqtranslate MAKEFILE`: the Makefile again, its recipes calls of mqsub (section 3.2.2 of the paper)."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from headway.cli.display.terminal import write_content
from headway.cli.exits import end_with
from headway.formats.makefile.writer import render_calls
from headway.live.reading.read import read, write_whole
from headway.model.flatten import flatten


def main(words: list[str] | None = None) -> NoReturn:
    """The `mqtranslate` command; it exits like `headway`."""
    asked = _parser().parse_args(words)
    end_with(lambda: translate(asked.makefile, asked.goals, asked.output))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mqtranslate",
        description="Rewrite a Makefile into one whose recipes submit each command line with mqsub.",
        epilog="GNU make reads the file: $(shell ...) and lines with + run while it does.",
    )
    parser.add_argument("makefile", metavar="MAKEFILE")
    parser.add_argument(
        "goals", metavar="GOALS", nargs="*", default=[], help="targets to make; without any, make's default goal"
    )
    parser.add_argument("-o", dest="output", metavar="OUT", help="the file to write; without it, standard output")
    return parser


def translate(makefile: str, goals: list[str], output: str | None) -> None:
    """Writes the Makefile that submits what the given one would run."""
    workflow = read(makefile, *goals, format="makefile")
    flatten(workflow)
    for _, group in workflow.walk():
        for job in group.all_jobs():
            job.inputs = job.outputs = ()  # Fig. 13 does not tell the files: targets need not even be any
    text = render_calls(workflow).text
    for warning in workflow.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if output is None:
        write_content(text.encode("utf-8", "surrogateescape"))
    else:
        write_whole(output, text)


if __name__ == "__main__":
    main()
