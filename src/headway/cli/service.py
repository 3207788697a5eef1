"""How TrellisDAG's own commands begin and end: they are called often, so nothing heavy is imported for that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from headway.cli.terminal import prepare
from headway.model.errors import HeadwayError, InputError


def serve(name: str, help: str, words: Sequence[str] | None, service: Callable[[list[str]], object]) -> NoReturn:
    """Carries a service out and exits as it ended: every error a sentence, no traceback."""
    prepare()
    given = sys.argv[1:] if words is None else list(words)
    if given in (["-h"], ["-help"], ["--help"]):
        sys.stdout.write(help)
        sys.exit(0)
    code, message = 0, ""
    try:
        service(given)
        sys.stdout.flush()
    except InputError as error:
        code, message = 2, str(error)
    except HeadwayError as error:
        code, message = error.exit_code, f"{name}: {error}"
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        code, message = 1, f"{name}: {error.strerror or error}."
    except KeyboardInterrupt:
        code, message = 130, f"{name}: interrupted."
    if message:
        print(message, file=sys.stderr)
    sys.exit(code)
