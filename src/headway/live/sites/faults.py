"""Why a host cannot be used, told from what ssh and the host said; and what its user can do about it."""

from __future__ import annotations

import shlex

from headway.live.sites.site import Site
from headway.model.errors import HeadwayError


class LastingError(HeadwayError):
    """Something that calling again does not mend."""


_NO_PROGRAM = (126, 127)  # exit codes of a shell that cannot start a program
SSH_FAILED = 255  # the exit code of ssh if it is not the far command's
_TRY = "Try it by hand: {ssh} true"
_PYTHON = (
    'Install one there, or name it in headway.toml: python = "/path/to/python3". '
    "Without any: headway placeholder --script gives a script for that host."
)
# What ssh says, what it means, the way out, and whether calling again may help.
_KNOWN = (
    (
        *("REMOTE HOST IDENTIFICATION HAS CHANGED", "the key of {host} is not the one that ssh knows."),
        *("Somebody may be listening. If its key was really changed: ssh-keygen -R {host}, then {ssh}", False),
    ),
    (
        *("Host key verification failed", "ssh does not know the key of {host}."),
        *("Log in once and confirm it: {ssh} true", False),
    ),
    (
        *("Permission denied", "{host} does not let you in: {said}"),
        *("It must work without a question: ssh-copy-id {host}, or load your key with ssh-add.", False),
    ),
    (
        *("Could not resolve hostname", "there is no host {host}: {said}"),
        *("Correct the host of this site in headway.toml, or name it in ~/.ssh/config.", False),
    ),
    (
        *("there is no Python 3.9 or later", "{host} has no Python 3.9 or later."),
        *(_PYTHON, False),
    ),
    (
        *("is too old: 3.9 or later is needed", "{host} has no Python 3.9 or later: {said}"),
        *(_PYTHON, False),
    ),
    (
        *("cannot be written", "{host}: {said}"),
        *("Make room there, or correct who may write; then run again.", False),
    ),
    (
        *("Connection refused", "{host} refuses the connection."),
        *("Is its ssh server running? " + _TRY, True),
    ),
    (
        *("timed out", "{host} does not answer."),
        *("Is it switched on, and connected? " + _TRY, True),
    ),
    (
        *("No route to host", "{host} cannot be reached."),
        *("Is it switched on, and connected? " + _TRY, True),
    ),
)


def fault(site: Site, code: int, said: str, was_ready: bool) -> HeadwayError:
    """What is wrong with a site whose connection ended."""
    host = site.host or "this computer"
    ssh = shlex.join(["ssh", *site.ssh_options, site.host])  # with another port, say, it is another server
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = lines[-1].removeprefix("headway: ") if lines else ""
    for mark, what, fix, is_passing in _KNOWN:
        if mark in said:
            kind = HeadwayError if is_passing or was_ready else LastingError
            return kind(what.format(host=host, said=f"{last}."), fix.format(host=host, ssh=ssh))
    if was_ready:
        what = f"the connection to {host} is lost: its jobs go on, and it is called again"
        return HeadwayError(f"{what} ({last})." if last else f"{what}.")
    if site.python and code in _NO_PROGRAM:
        fix = "Correct it in headway.toml, or leave python out: then one is looked for."
        return LastingError(f"the python of this site cannot be started on {host}: {last}.", fix)
    kind = HeadwayError if code == SSH_FAILED else LastingError
    return kind(f"{host} cannot be used: ssh ended with {code}: {last or 'no message'}.", _TRY.format(ssh=ssh))
