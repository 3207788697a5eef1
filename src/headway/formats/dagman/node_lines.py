"""The lines that declare nodes, and the submit descriptions written in the DAG file itself."""

from __future__ import annotations

from headway.formats.dagman.nodes import Dag
from headway.formats.dagman.words import RESERVED, Lines, WordError, tokens, unquoted
from headway.model.errors import ModelError, shown
from headway.model.job import Job
from headway.model.workflow import Group


def node(dag: Dag, kind: str, name: str, description: str) -> Job:
    """Declares a node: `kind` is job, final, provisioner or service."""
    check_name(name)
    job = Job(description=dag.texts.setdefault(description, description))
    if kind != "job":
        _special(dag, kind, name, job)
        return job
    if name in dag.special or name in dag.splices:
        raise WordError(f"{shown(name)} is already defined.", "Give the node another name.")
    if description.endswith(".condor.sub"):
        raise WordError(
            f"{shown(description)} is a DAG submitted as a job.", "Use SUBDAG EXTERNAL NAME FILE.dag instead."
        )
    try:
        dag.members.add(Group(name, [job]))
    except ModelError:
        raise WordError(f"node {shown(name)} is already defined.", "Give it another name.") from None
    return job


def _special(dag: Dag, kind: str, name: str, job: Job) -> None:
    if dag.is_taken(name):
        raise WordError(f"{shown(name)} is already defined.", "Give the node another name.")
    if kind != "service" and any(other == kind for other, _ in dag.special.values()):
        raise WordError(f"there is a {kind.upper()} node already.", f"A DAG has at most one {kind.upper()} node.")
    if kind == "final" and dag.is_splice:
        raise WordError("a splice can have no FINAL node.", "Move it to the outermost DAG.")
    dag.special[name] = (kind, Group(name, [job]))


def node_line(keyword: str, words: list[str], lines: Lines, dag: Dag) -> None:
    """A node with options, an inline description, or of another kind than JOB."""
    subdag = keyword == "SUBDAG"
    if subdag:
        if len(words) < 2 or words[1].upper() != "EXTERNAL":
            raise WordError("SUBDAG without EXTERNAL.", "Expected SUBDAG EXTERNAL NAME FILE.dag.")
        words = words[1:]
    _check_complete(keyword, words)
    name, description, options = words[1], words[2], words[3:]
    kind = "job" if keyword in ("JOB", "SUBDAG") else keyword.lower()
    if subdag:
        job = node(dag, kind, name, "")
        dag.rule(job, "subdag", unquoted(description))
    elif opens(description):
        body, rest = lines.block(description)
        options = tokens(rest)
        key = f"{{{name}}}"
        job = node(dag, kind, name, key)
        dag.descriptions[key] = body
    else:
        job = node(dag, kind, name, unquoted(description))
    _options(keyword, name, job, options, dag)


def _check_complete(keyword: str, words: list[str]) -> None:
    file, what = ("FILE.dag", "DAG file") if keyword == "SUBDAG" else ("SUBMIT-FILE", "submit description")
    if len(words) < 2:
        raise WordError("the node has no name.", f"Expected {keyword} NAME {file}.")
    check_name(words[1])
    if len(words) < 3:
        raise WordError(f"node {shown(words[1])} has no {what}.", f"Expected {keyword} NAME {file}.")


def _options(keyword: str, name: str, job: Job, options: list[str], dag: Dag) -> None:
    rest = iter(options)
    for option in rest:
        word = option.upper()
        if word == "DIR":
            directory = next(rest, None)
            if directory is None:
                raise WordError("DIR without a directory.", "Expected DIR DIRECTORY.")
            dag.placed(job, unquoted(directory))
        elif word == "NOOP":
            dag.rule(job, "noop", True)
        elif word == "DONE":
            if keyword in ("JOB", "SUBDAG"):
                dag.rule(job, "done", True)
            else:
                dag.warnings.append(f"{keyword} node {shown(name)} cannot be DONE; the word is ignored.")
        else:
            raise WordError(f"unexpected word {shown(option)}.", "Expected DIR, NOOP or DONE, or the line's end.")


def description_line(words: list[str], lines: Lines, dag: Dag) -> None:
    """SUBMIT-DESCRIPTION: a description that nodes share by name."""
    if len(words) < 2:
        raise WordError("the submit description has no name.", "Expected SUBMIT-DESCRIPTION NAME {.")
    if len(words) < 3 or not opens(words[2]):
        raise WordError("no description follows.", "Expected SUBMIT-DESCRIPTION NAME { and its lines.")
    name = words[1]
    body, rest = lines.block(words[2])
    if rest:
        dag.warnings.append(f"{shown(rest)} behind submit description {shown(name)} is ignored.")
    if name in dag.descriptions:
        raise WordError(f"submit description {shown(name)} is already defined.", "Give it another name.")
    dag.descriptions[name] = body


def check_name(name: str) -> None:
    """Refuses what neither a node nor a splice can be called."""
    if name.upper() in RESERVED:
        raise WordError(f"{shown(name)} is a reserved word.", "Give the node another name.")
    if "+" in name:
        raise WordError(f"the name {shown(name)} contains +, which stands for splices.", "Give it another name.")


def opens(word: str) -> bool:
    """Whether a word begins a description written in the DAG file itself."""
    return word[0] == "{" or word.startswith("@=")
