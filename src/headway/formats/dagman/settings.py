"""Commands that speak of the whole DAG."""

from __future__ import annotations

from collections.abc import Callable

from headway.formats.dagman.nodes import Dag
from headway.formats.dagman.words import WordError, integer, split, unquoted
from headway.model.errors import shown


def _file(words: list[str], form: str) -> str:
    if len(words) < 2:
        raise WordError(f"{words[0]} names no file.", f"Expected {form}.")
    return unquoted(words[1])


def _end(words: list[str], at: int, form: str) -> None:
    if len(words) > at:
        raise WordError(f"unexpected word {shown(words[at])}.", f"Expected {form}.")


def _config(dag: Dag, words: list[str], text: str) -> None:
    form = "CONFIG FILE"
    file = _file(words, form)
    _end(words, 2, form)
    if dag.settings.config not in (None, file):
        raise WordError(f"there is a CONFIG file already: {shown(dag.settings.config or '')}.", "Name one only.")
    dag.settings.config = file


_DOT_OPTIONS = ("UPDATE", "DONT-UPDATE", "OVERWRITE", "DONT-OVERWRITE")


def _dot(dag: Dag, words: list[str], text: str) -> None:
    form = "DOT FILE [UPDATE|DONT-UPDATE] [OVERWRITE|DONT-OVERWRITE] [INCLUDE FILE]"
    said = [_file(words, form)]
    rest = iter(words[2:])
    for word in rest:
        option = word.upper().replace("_", "-")
        if option == "INCLUDE":
            header = next(rest, None)
            if header is None:
                raise WordError("INCLUDE names no file.", f"Expected {form}.")
            said += [option, unquoted(header)]
        elif option in _DOT_OPTIONS:
            said.append(option)
        else:
            raise WordError(f"unexpected word {shown(word)}.", f"Expected {form}.")
    if dag.settings.dot:
        dag.warnings.append(f"only the first DOT file counts, not {shown(said[0])}.")
    else:
        dag.settings.dot = tuple(said)


def _status_file(dag: Dag, words: list[str], text: str) -> None:
    form = "NODE_STATUS_FILE FILE [SECONDS] [ALWAYS-UPDATE]"
    file, seconds, always = _file(words, form), 60, False
    for word in words[2:]:
        if word.upper().replace("_", "-") == "ALWAYS-UPDATE":
            always = True
        else:
            seconds = integer(word, "the number of seconds", 0)
    _end(words, 4, form)
    if dag.settings.status_file is not None:
        dag.warnings.append(f"only the first NODE_STATUS_FILE counts, not {shown(file)}.")
    else:
        dag.settings.status_file = (file, seconds, always)


def _jobstate_log(dag: Dag, words: list[str], text: str) -> None:
    form = "JOBSTATE_LOG FILE"
    file = _file(words, form)
    _end(words, 2, form)
    if dag.settings.jobstate_log is not None:
        dag.warnings.append(f"only the first JOBSTATE_LOG counts, not {shown(file)}.")
    else:
        dag.settings.jobstate_log = file


def _maxjobs(dag: Dag, words: list[str], text: str) -> None:
    form = "MAXJOBS CATEGORY NUMBER"
    if len(words) < 3:
        raise WordError("MAXJOBS is not complete.", f"Expected {form}.")
    _end(words, 3, form)
    dag.throttles[words[1]] = integer(words[2], "the number of jobs", 0)


def _job_attribute(dag: Dag, words: list[str], text: str) -> None:
    _, _, said = text.partition(words[0])
    key, equals, value = said.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise WordError("SET_JOB_ATTR without a value.", "Expected SET_JOB_ATTR NAME = VALUE.")
    dag.settings.job_attributes += ((key.strip(), value.strip()),)


def _environment(dag: Dag, words: list[str], text: str) -> None:
    parts = text.split(None, 2)
    if len(parts) < 3 or parts[1].upper() not in ("GET", "SET"):
        raise WordError("ENV is not complete.", "Expected ENV GET NAME … or ENV SET NAME=VALUE;….")
    if parts[1].upper() == "GET":
        dag.settings.environment_get += tuple(split(parts[2].replace(",", " ")))
    else:
        dag.settings.environment_set += tuple(pair for pair in parts[2].strip().split(";") if pair)


SETTINGS: dict[str, Callable[[Dag, list[str], str], None]] = {
    "CONFIG": _config,
    "DOT": _dot,
    "ENV": _environment,
    "JOBSTATE_LOG": _jobstate_log,
    "MAXJOBS": _maxjobs,
    "NODE_STATUS_FILE": _status_file,
    "SET_JOB_ATTR": _job_attribute,
}
