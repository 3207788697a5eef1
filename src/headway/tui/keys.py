"""The keys of the browser, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding, BindingType

from headway.tui.steps import STEPS

_SHOWN = (
    *("⏎ dive", "w waits for", *(f"{step.key} {step.name.lower()}" for step in STEPS)),
    *("u up", "space mark", "/ find", "p prologues", "r refresh", "q quit"),
)
_COMMANDS = (
    ("enter,right,l,1", "dive"),
    ("w,2", "dependencies"),
    *((f"{step.key},{step.number}", f"step({number})") for number, step in enumerate(STEPS)),
    ("u,left,backspace,h,9", "up"),
    ("space", "mark"),
    ("slash", "find"),
    ("p", "prologues"),
    ("r,0", "refresh"),
    ("q", "leave"),
)
_FINDING = (("enter", "found"), ("escape", "not_found"))  # while a name is typed
COMMANDS = frozenset(action.partition("(")[0] for _, action in _COMMANDS)
FINDING = frozenset(action for _, action in _FINDING)


def bindings(pairs: Sequence[tuple[str, str]]) -> list[BindingType]:
    """Keys that do their work before the next key is read.

    Without priority a key first goes to a widget and back. Of keys that come in one burst, as over a slow line, the
    later ones would then be taken for what they meant before it.
    """
    return [Binding(keys, action, show=False, priority=True) for keys, action in pairs]


BINDINGS = bindings((*_COMMANDS, *_FINDING, ("ctrl+c", "quit")))


def shown(width: int) -> str:
    """What the keys mean, in as many lines as it takes; a key and its meaning stay together."""
    found = [""]
    for word in _SHOWN:
        longer = f"{found[-1]}  {word}" if found[-1] else word
        if len(longer) > width:
            found.append(word)
        else:
            found[-1] = longer
    return "\n".join(found)
