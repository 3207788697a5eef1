"""The one file that a far host needs: a zip of the runner's modules, kept there under its digest."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path
from shlex import quote

import headway
from headway.model.record import record

OLDEST = (3, 9)  # the oldest Python that runs it
NEED, HAVE = b"headway-need", b"headway-have"  # what the far host answers first
# All that the far end and its runner import, also late: nothing beside these and the standard library.
_NAMES = """
    __init__ model.__init__ model.errors model.messages model.record model.states engine.__init__ engine.ready
    engine.silence live.__init__ live.clock live.codec live.failpoint live.client.__init__ live.client.door
    live.client.line live.client.messages live.client.starter live.doors.__init__ live.doors.codec
    live.doors.messages live.doors.pipe live.doors.tls_relay live.home.__init__ live.home.disk
    live.home.environments live.home.folder live.home.lost live.home.ownership live.home.runner_log
    live.home.sharing live.placeholder.__init__ live.placeholder.adoption live.placeholder.aside
    live.placeholder.asked live.placeholder.clients live.placeholder.demand live.placeholder.exchange
    live.placeholder.exits live.placeholder.inherited live.placeholder.jobs live.placeholder.keeper
    live.placeholder.launch live.placeholder.limits live.placeholder.lost_files live.placeholder.orphans
    live.placeholder.others live.placeholder.outputs live.placeholder.partial_outputs live.placeholder.process
    live.placeholder.reception live.placeholder.recipe live.placeholder.recovery live.placeholder.responses
    live.placeholder.room live.placeholder.roster live.placeholder.runner live.placeholder.running
    live.placeholder.serving live.placeholder.spawn live.placeholder.spool live.placeholder.sub_workflows
    live.placeholder.upkeep live.sites.__init__ live.sites.frames live.sites.front live.sites.front_files
    live.sites.login_relay live.sites.node live.store.__init__ live.store.spec live.store.text
"""
MODULES = tuple(_NAMES.split())
_MAIN = """\
import sys
if sys.version_info < (3, 9):
    have = (sys.executable, sys.version.split()[0])
    sys.exit('headway: %s is Python %s there, 3.9 or later is needed: python = "/path" in headway.toml' % have)
if sys.argv[1:2] == ["--relay"]:
    from headway.live.sites.login_relay import main
    raise SystemExit(main(*sys.argv[2:]))
if len(sys.argv) > 1:
    from headway.live.sites.node import main
    raise SystemExit(main(sys.argv[1]))
from headway.live.sites.front import main
raise SystemExit(main())
"""
_LONG_AGO = (2000, 1, 1, 0, 0, 0)  # the same modules make the same file

# Runs on the far host, on any Python 3: sees to it that the file is there and whole, and becomes it.
_BOOTSTRAP = """
import os, sys, hashlib
digest, size = sys.argv[1], int(sys.argv[2])
if sys.version_info < (3, 9):
    for minor in range(14, 8, -1):
        try:
            os.execvp("python3.%d" % minor, ["python3", "-c", code] + sys.argv[1:])
        except OSError:
            pass
    sys.exit("headway: Python %s is too old: 3.9 or later is needed" % sys.version.split()[0])
def fetched():
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit("headway: the connection ended before all was there")
        data += more
    return data
folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "headway")
path = os.path.join(folder, "runner-" + digest[:16] + ".pyz")
try:
    with open(path, "rb") as file:
        there = hashlib.sha256(file.read()).hexdigest() == digest
except OSError:
    there = False
os.write(1, b"headway-have\\n" if there else b"headway-need\\n")
if not there:
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        aside = path + "." + str(os.getpid())
        with open(aside, "wb") as file:
            file.write(fetched())
        os.replace(aside, path)
    except OSError as error:
        sys.exit("headway: %s cannot be written: %s" % (path, error.strerror))
os.execv(sys.executable, [sys.executable, "-E", "-s", path])
"""


@record
class Package:
    """The file, and how it is known."""

    data: bytes
    digest: str


@cache
def package() -> Package:
    """The runner as one file."""
    root = Path(headway.__file__).parent
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in MODULES:
            file = f"{name.replace('.', '/')}.py"
            packed.writestr(_entry(f"headway/{file}"), (root / file).read_bytes())
        packed.writestr(_entry("__main__.py"), _MAIN)
    data = out.getvalue()
    return Package(data, hashlib.sha256(data).hexdigest())


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def command(package: Package, python: str = "") -> str:
    """The command line for the far host, whatever shell its user has: one word of sh, without anything to expand."""
    code = base64.b64encode(_BOOTSTRAP.encode()).decode()
    # The code has itself as `code`, so that an old Python can pass it on to a newer one.
    python_code = f'import base64; code = base64.b64decode(b\\"{code}\\").decode(); exec(code)'
    start = f'-c "{python_code}" {package.digest} {len(package.data)}'
    if python:
        return f"exec sh -c {quote(f'exec {quote(python)} {start}')}"
    script = (
        f"for p in python3 python; do if command -v $p >/dev/null 2>&1; then exec $p {start}; fi; done;"
        ' echo "headway: there is no Python 3.9 or later" >&2; exit 127'
    )
    return f"exec sh -c {quote(script)}"
