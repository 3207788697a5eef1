"""HTCondor submit description files: what the nodes of a DAG run, and workflows of their own."""

from headway.formats.submit.description import Description, parse_description
from headway.formats.submit.process import processes
from headway.formats.submit.resolution import node_processes, parse, resolved
from headway.formats.submit.runnable import runnable
from headway.formats.submit.writing import description_text

__all__ = [
    "Description",
    "description_text",
    "node_processes",
    "parse",
    "parse_description",
    "processes",
    "resolved",
    "runnable",
]
