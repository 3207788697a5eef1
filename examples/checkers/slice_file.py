"""Files of slices, which are checked before they are used.

A file begins with the SHA-256 of all that follows in it. The next line is JSON: the version, the slice, the SHA-256 of
its values, and the digests of the files that it was computed from. Then come the values, a byte each.
"""

import hashlib
import json
import os
from pathlib import Path

from slices import name

VERSION = 1  # of what is written here; another number for every change of rules or order
FOLDER = Path(__file__).parent / "out"


class BadSliceError(Exception):
    """A file that is not what it should be."""


def path_of(numbers):
    return FOLDER / f"{name(numbers)}.slice"


def write(numbers, values, sources):
    """Writes a slice, of which a reader sees all or nothing. `sources`: the digests of what it was computed from."""
    head = {
        "version": VERSION,
        "slice": name(numbers),
        "values": hashlib.sha256(values).hexdigest(),
        "sources": {name(each): digest for each, digest in sorted(sources.items())},
    }
    rest = json.dumps(head).encode() + b"\n" + values
    FOLDER.mkdir(exist_ok=True)
    path = path_of(numbers)
    scratch = path.with_suffix(f".{os.getpid()}.tmp")
    scratch.write_bytes(hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)
    scratch.replace(path)


def read(numbers):
    """The digest, the head and the values of a slice, if it is whole, of this version, and of its present sources."""
    path = path_of(numbers)
    try:
        digest, rest = path.read_bytes().split(b"\n", 1)
    except FileNotFoundError:
        raise BadSliceError(f"{path}: this slice has not been computed.") from None
    except ValueError:
        raise BadSliceError(_again(path, "is cut short")) from None
    if hashlib.sha256(rest).hexdigest().encode() != digest:
        raise BadSliceError(_again(path, "is cut short or damaged: its digest is another"))
    line, values = rest.split(b"\n", 1)
    head = json.loads(line)
    if (head["version"], head["slice"]) != (VERSION, name(numbers)):
        what = f"holds slice {head['slice']} in version {head['version']}, not {name(numbers)} in version {VERSION}"
        raise BadSliceError(_again(path, what))
    for source, expected in head["sources"].items():
        if digest_of(tuple(map(int, source))) != expected:
            raise BadSliceError(_again(path, f"was computed from another version of slice {source}"))
    return digest.decode(), head, values


def digest_of(numbers):
    """What a file says its digest is; None if there is no such file."""
    try:
        with path_of(numbers).open("rb") as file:
            return file.readline().decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None


def _again(path, what):
    return f"{path} {what}. To compute all slices again: headway run endgames.py N --fresh"
