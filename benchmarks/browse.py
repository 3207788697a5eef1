"""`headway browse` of many groups: how long it takes to open, and until a change is on the screen.

    .venv/bin/python benchmarks/browse.py [--groups 10000] [--repeat 10]

The browser runs in a pseudo-terminal of 100 x 30. Opening is from starting the process until rows are drawn, beside a
bare interpreter. A change is one that another process has committed to the store, of a group on the screen; the time
is from the commit until its new state is drawn. Shown are median (least-most).
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path

from read_dagman import spread

from headway.live.home.store_location import found_store
from headway.model.messages import JobId, WorkflowId

PATIENCE = 30.0
_CONTROL = re.compile(rb"\x1b\[[0-9;?<>]*[a-zA-Z]")


class Browser:
    """The program, and what it has drawn so far."""

    def __init__(self, folder: Path) -> None:
        self.drawn = b""
        self.begun = time.monotonic()
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ["TERM"] = "xterm-256color"
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            os.execv(sys.executable, [sys.executable, "-m", "headway", "browse"])

    def until(self, drawn: Callable[[bytes], object]) -> float:
        """Waits for something to be drawn; when that was."""
        while not drawn(_CONTROL.sub(b"", self.drawn)):
            if not select.select([self._screen], [], [], PATIENCE)[0]:
                raise SystemExit(f"nothing came: {self.drawn[-2000:]!r}")
            self.drawn += os.read(self._screen, 1 << 16)
        return time.monotonic()

    def forget(self) -> None:
        """What was drawn until now does not count."""
        while select.select([self._screen], [], [], 0.0)[0]:
            os.read(self._screen, 1 << 16)
        self.drawn = b""

    def close(self) -> float:
        """CPU seconds that it took in all."""
        os.write(self._screen, b"q")
        try:
            while select.select([self._screen], [], [], 2.0)[0] and os.read(self._screen, 1 << 16):
                pass
        except OSError:
            pass
        os.kill(self.pid, signal.SIGKILL)
        used = os.wait4(self.pid, 0)[2]
        os.close(self._screen)
        return used.ru_utime + used.ru_stime


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=10)
    options = parser.parse_args()
    os.environ.pop("HEADWAY_STORE", None)
    print("| groups | jobs each | open s | CPU s to open | python -c pass s | redraw s | CPU share while idle |")
    print("|---|---|---|---|---|---|---|")
    for jobs in (1, 3):
        with tempfile.TemporaryDirectory() as folder:
            submit(Path(folder), options.groups, jobs)
            opened, used, bare, redrawn, idle = measured(Path(folder), options.repeat)
        cells = [spread(each, ".2f") for each in (opened, used, bare, redrawn)]
        print(f"| {options.groups} | {jobs} | {' | '.join(cells)} | {idle:.2f} |", flush=True)


def submit(folder: Path, groups: int, jobs: int) -> None:
    """A workflow in which nothing runs: all groups wait for one that fails."""
    lines = ["mqsub -l gate -c false"]
    lines += [f"mqsub -deps gate -l group{number} -c true" for number in range(groups)]
    lines += [f"mqsub -l group{number} -c true" for _ in range(jobs - 1) for number in range(groups)]
    (folder / "w.sh").write_text("\n".join(lines) + "\n")
    subprocess.run([sys.executable, "-m", "headway", "run", "w.sh"], cwd=folder, capture_output=True, check=False)


def measured(folder: Path, repeat: int) -> tuple[list[float], list[float], list[float], list[float], float]:
    """Times to open, CPU for that, a bare interpreter, times until changes are drawn, and CPU while nothing happens."""
    opened, used, bare, redrawn = [], [], [], []
    for _ in range(repeat):
        begun = time.monotonic()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.monotonic() - begun)
        browser = Browser(folder)
        opened.append(browser.until(lambda drawn: b"group5" in drawn) - browser.begun)
        used.append(browser.close())
    store = found_store(str(folder))[1]
    browser = Browser(folder)
    browser.until(lambda drawn: b"group5" in drawn)
    for number in range(repeat):
        time.sleep(0.3)  # a change comes at any moment, not right after another
        browser.forget()
        verb, word = (("disable", b"Disabled"), ("enable", b"Not started"))[number % 2]
        store.steering.steer(verb, WorkflowId(1), [(JobId(3), JobId(3))])
        committed = time.monotonic()
        redrawn.append(browser.until(lambda drawn, word=word: word in drawn) - committed)  # type: ignore[misc]
    before = _cpu(browser.pid)
    time.sleep(5.0)
    idle = (_cpu(browser.pid) - before) / 5.0
    browser.close()
    store.close()
    return opened, used, bare, redrawn, idle


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
