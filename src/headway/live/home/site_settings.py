"""The tables of headway.toml that are sites: what each must say, and what would have no effect there."""

from __future__ import annotations

from collections.abc import Mapping

from headway.live.home.settings import LONGEST_NAME, SITE_KEYS, SITES, Known, checked, line_of
from headway.model.errors import InputError, shown

# Settings that mean something only beside another one, and what to write instead.
_OF_QUEUES = ("allocations", "cores", "time", "job_time", "idle", "look", "options", "address")
_INSTEAD = {
    "cores": "How many jobs run there at once says slots = N.",
    "options": 'Options for ssh are ssh_options = ["…"].',
}


def checked_site(path: str, lines: list[str], name: str, table: object) -> dict[str, Known]:
    """The settings of a site. InputError: something is wrong with it."""
    section = f"{SITES}.{name}"
    line = line_of(lines, section, "")
    if not isinstance(table, dict):
        raise InputError(path, line, f"site {shown(name)} is no table.", f"Write [{SITES}.{name}], and its keys below.")
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum() or name.startswith((".", "-")):
        what = f"site {shown(name)}: a name has letters, digits, - and _ only."
        raise InputError(path, line, what, "It is the name of a folder too.")
    if len(name.encode()) > LONGEST_NAME:
        raise InputError(path, line, f"the name {shown(name[:20])}… is too long for a site.", "Give it a shorter one.")
    if name == "local":
        raise InputError(path, line, "local is this computer, which needs no table.", "Give the site another name.")
    if name in ("start", "stop"):
        raise InputError(path, line, f"headway sites {name} is a command.", "Give the site another name.")
    values = checked(path, lines, section, table, SITE_KEYS)
    if "queue" in values:
        _check_queue(path, line, name, values)
    has_host, is_shared = "host" in values, bool("shared" in values and values["shared"].value)
    if has_host and is_shared == ("directory" in values):
        what = f"site {shown(name)} must say where its jobs find their files."
        fix = 'Either shared = true (the same paths as here), or directory = "/a/folder/there".'
        raise InputError(path, line, what, fix)
    _check_effect(path, name, values)
    return values


def _check_effect(path: str, name: str, values: Mapping[str, Known]) -> None:
    """Refuses settings that would have no effect, or none that could be meant."""
    needs = [(key, "queue", 'Leave it out, or write queue = "slurm".') for key in _OF_QUEUES]
    needs += [("stage", "directory", "With shared = true the files are there already.")]
    needs += [("ssh_options", "host", "Without a host, the site is on this computer.")]
    for key, other, fix in needs:
        if key in values and other not in values:
            what = f"site {shown(name)}: {key} is for sites with a {other}."
            raise InputError(path, _number(values[key]), what, _INSTEAD.get(key, fix))
    for one in values["stage"].value if "stage" in values else ():
        if one.startswith(("/", "~")) or ".." in one.split("/"):
            what = f"site {shown(name)}: stage names {shown(one)}, which is not below the workflow's folder."
            raise InputError(path, _number(values["stage"]), what, "Only paths in that folder are copied.")
    host, _, port = values["host"].value.rpartition(":") if "host" in values else ("", "", "")
    if host and ":" not in host and port.isdecimal():
        fix = f'Write host = "{host}" and ssh_options = ["-p", "{port}"], or name it in ~/.ssh/config.'
        raise InputError(path, _number(values["host"]), f"site {shown(name)}: ssh takes no port with a host.", fix)
    _, colon, port = values["address"].value.partition(":") if "address" in values else ("", "", "")
    if colon and not (port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
        what = f"site {shown(name)}: {shown(port)} is no port."
        raise InputError(path, _number(values["address"]), what, 'Write address = "HOST" or "HOST:PORT".')


def _number(known: Known) -> int:
    return int(known.place.rpartition(":")[2])


def _check_queue(path: str, line: int, name: str, values: Mapping[str, Known]) -> None:
    """A site with a batch queue says which one, and has our files."""
    from headway.live.sites.queues import NAMES as QUEUES

    queue = values["queue"]
    if queue.value not in QUEUES:
        raise InputError(
            path,
            _number(queue),
            f"there is no queue {shown(queue.value)}.",
            f"There are {', '.join(QUEUES)}.",
        )
    if "directory" in values:
        what = f"site {shown(name)}: the nodes of a queue must have the same files as this computer."
        raise InputError(path, line, what, "Write shared = true instead of directory.")
    if "slots" in values:
        raise InputError(
            path, line, f"site {shown(name)}: the slots of an allocation are its cores.", "Write cores = N."
        )
