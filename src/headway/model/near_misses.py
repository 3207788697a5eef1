"""Keys that are nearly one of a job's options: a slip of the fingers, or the name that another program has for it.

One rule: without case, `-` and `_`, such a key is an option or another name for one, or it is one slip away from
one: a letter left out, added or changed, or two letters swapped. Short words are one slip away from too many others:
of five letters one may be left out or two be swapped, and below that none.
"""

from __future__ import annotations

from functools import lru_cache

from headway.model.attributes import ENVIRONMENT, KEYS, OWN, PREFIXES, RESOURCE
from headway.model.errors import ModelError, shown

# What people write, having other programs in mind.
_OTHER_NAMES = {
    "retries": "retry retrys maxretries maxretry retrycount retrylimit numretries nretries tries maxtries attempts",
    "time": "timeout timelimit maxtime walltime limit",
    "cores": "cpu cpus ncpu ncpus numcpus ncores numcores cpucount threads nthreads processors slots",
    "nodes": "machinecount nnodes numnodes nodecount",
    "memory": "mem ram maxmemory maxmem memorymb memmb memlimit memorylimit",
    "directory": "dir cwd workdir workingdir workingdirectory folder initialdir",
    "seconds": "runtime duration expected",
    "backoff": "delay retrydelay",
    "inputs": "inputfiles",
    "outputs": "outputfiles",
    f"{RESOURCE}gpu": "gpu gpus ngpu ngpus numgpus",
    f"{RESOURCE}disk": "disk diskspace",
}
_HONEST = frozenset(("previous", "second", "director"))  # words of their own, though one slip away from an option
_SHORT = 5  # letters
_LONGEST = 40


def _squeezed(key: str) -> str:
    return key.lower().replace("-", "").replace("_", "")


_NAMES = {_squeezed(key): key for key in sorted(KEYS)}
_NAMES |= {name: key for key, names in _OTHER_NAMES.items() for name in names.split()}
_SLIPS = [name for name in _NAMES if _NAMES[name] in KEYS and (name == _squeezed(_NAMES[name]) or "retr" in name)]


@lru_cache(4096)
def meant(key: str) -> str | None:
    """The key that was perhaps meant by one that is none of ours; None if it is like no other."""
    if key in KEYS:
        return None
    plain = key.lower().replace("-", "_")
    for prefix, long in ((ENVIRONMENT, ("environment", "env")), (RESOURCE, ("resources", "resource"))):
        name, _, rest = plain.partition(".")
        slip = bool(rest) and any(is_one_slip(name, one) for one in long)
        if (name in long or slip) and not key.startswith(prefix):
            return f"{prefix}{key.partition('.')[2] or 'NAME'}"
    word = _squeezed(key)
    if word in _NAMES:
        return _NAMES[word]
    if len(word) > _LONGEST or word in _HONEST or not word.isalpha():
        return None
    return next((_NAMES[name] for name in _SLIPS if is_one_slip(word, name)), None)


def is_one_slip(word: str, name: str) -> bool:
    """Whether a word is one slip of the fingers away from a name."""
    longer = len(word) - len(name)
    if len(name) < _SHORT or abs(longer) > 1:
        return False
    same = next((at for at, (one, other) in enumerate(zip(word, name, strict=False)) if one != other), len(name))
    mine, rest = word[same:], name[same:]
    if longer == -1:
        return mine == rest[1:]
    if longer == 0 and mine[:2] == rest[:2][::-1] and mine[2:] == rest[2:]:
        return True
    if len(name) == _SHORT:
        return False
    return mine[1:] == (rest if longer else rest[1:])


def check(key: str, said: str = "attribute") -> None:
    """Refuses a key that is none of ours, but nearly one."""
    like = None if key in KEYS or key.startswith(PREFIXES) else meant(key)
    if like is not None:
        what = f"{said} {shown(key)} is like {shown(like)}, which may be meant."
        raise ModelError(what, f"Say {like}=…, or {OWN}{key}=… if it is an attribute of your own.")
