"""How every command ends: an exit code, and every error a sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from headway.cli.display.terminal import prepare
from headway.model.errors import HeadwayError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def end_with(command: Callable[[], object], name: str = "") -> NoReturn:
    """Carries a command out and exits as it ended, without a traceback. One of TrellisDAG's says its name first."""
    prepare()
    message = ""
    try:
        code = command()
        code = code if isinstance(code, int) else 0
        sys.stdout.flush()
    except HeadwayError as error:
        is_told = not name or isinstance(error, InputError)  # the place of the error comes first
        code, message = error.exit_code, str(error) if is_told else f"{name}: {error}"
    except KeyboardInterrupt:
        code, message = 130, f"{name or 'headway'}: interrupted."
    except BrokenPipeError:
        code = 141
    except OSError as error:
        place = f"{error.filename}: " if isinstance(error.filename, str) else ""
        code, message = 1, f"{name or 'headway'}: {place}{error.strerror or error}."
    except MemoryError:
        code, message = 1, f"{name or 'headway'}: out of memory."
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        if message:
            print(message, file=sys.stderr)
        sys.stderr.flush()
    os._exit(code)  # no second try at what could not be printed; and a million objects need not be taken apart


def serve(name: str, help: str, words: Sequence[str] | None, service: Callable[[list[str]], object]) -> NoReturn:
    """Carries a service out, or tells what it is for, and exits as it ended."""
    given = sys.argv[1:] if words is None else list(words)
    if given in (["-h"], ["-help"], ["--help"]):
        end_with(lambda: print(help, end=""), name)
    end_with(lambda: service(given), name)
