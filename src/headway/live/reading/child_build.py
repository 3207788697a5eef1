"""In the child: runs a Python script that builds a Workflow, and sends that back as flat scripts."""

from __future__ import annotations

from headway.formats.flat import render
from headway.formats.losses import lost
from headway.live.reading.child_script import Script, ScriptError, explained, tell
from headway.model.errors import shown
from headway.model.workflow import Group, Members, Workflow

_PREFERRED = ("workflow", "wf")
_KEPT = {"groups", "retries", "special", "throttles", "sizes"}


def main() -> None:
    """Answers for the script named in sys.argv, which runs as the program that it is."""
    tell("__main__", answer)


def answer(script: Script) -> dict[str, object]:
    """The workflow: a flat script, and what flat scripts cannot say."""
    workflow = _only(script)
    try:
        return _told(workflow)
    except Exception as error:
        raise explained(script, error, "the workflow", 1) from None


def _told(workflow: Workflow) -> dict[str, object]:
    return {
        "name": str(workflow.name),
        "flat": render(workflow).text,
        "files": {str(name): int(size) for name, size in workflow.files.items()},
        "throttles": {str(name): int(most) for name, most in workflow.throttles.items()},
        "final": _alone(workflow.final),
        "provisioner": _alone(workflow.provisioner),
        "services": [_alone(group) for group in workflow.services],
        "warnings": [str(warning) for warning in workflow.warnings],
        "lost": lost(workflow, can=_KEPT),
    }


def _alone(group: Group | None) -> str | None:
    """One group as a flat script."""
    if group is None:
        return None
    members = Members()
    members.add(group)
    return render(Workflow(groups=members)).text


def _only(script: Script) -> Workflow:
    """The workflow among what the script defines."""
    found = {name: value for name, value in script.names.items() if isinstance(value, Workflow)}
    if not found:
        raise ScriptError(
            1,
            "the script builds no workflow.",
            "Expected one that it defines outside of functions: workflow = Workflow()",
        )
    if len({id(value) for value in found.values()}) > 1:
        for name in _PREFERRED:
            if name in found:
                return found[name]
        names = " and ".join(shown(name) for name in found)
        raise ScriptError(
            script.line_of(next(iter(found))),
            f"the script builds several workflows: {names}.",
            "Name the one that is meant workflow.",
        )
    return next(iter(found.values()))
