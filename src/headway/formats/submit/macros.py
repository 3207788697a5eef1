"""Macros of submit description files: $(name), $(name:default) and the functions, expanded when asked.

What HTCondor knows only when it submits (a random choice) gets its first value where a file is only read, and a
warning; where it is to be run, a mark that is filled in for each attempt (`late.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from headway.formats.submit import late
from headway.formats.submit.expression import formatted, number, whole_number
from headway.model.errors import ModelError, shown

Lookup = Callable[[str], str | None]  # the value of a name in lower case, not expanded

BLANK = " \t\r\n\v\f"
_CALL = re.compile(r"\$([A-Za-z_]*)\(")
_REFERENCE = re.compile(r"([A-Za-z0-9_.]+)(?::(.*))?", re.DOTALL)
_FILE_NAME = re.compile(r"F([fpduwnxbqa]*)")
_LITERAL = "$$(DOLLARDOLLAR)"  # how HTCondor writes $$ that it shall not look at
_DEEPEST = 50  # macros in macros
_MOST = 100_000  # references in one value
_LONGEST = 10_000_000  # characters of one value


class Expansion:
    """Values with their macros replaced. Errors are ModelErrors: the caller knows the line."""

    __slots__ = ("active", "at", "environment", "length", "line", "lookup", "only", "steps", "warn")

    def __init__(
        self,
        lookup: Lookup,
        warn: Callable[[str], None],
        only: str | None = None,
        environment: Callable[[str], str | None] | None = None,
        line: Callable[[], int] | None = None,
    ) -> None:
        self.lookup = lookup
        self.warn = warn
        self.only = only  # the one macro to replace: an assignment that mentions its own name
        self.environment = environment  # what $ENV means, where that is known
        self.line = line  # the line that is read, where the file is to be run: then what is random is drawn later
        self.at = 0  # where in its value the macro stands that is being replaced
        self.active: list[str] = []
        self.steps = self.length = 0

    def of(self, text: str) -> str:
        """A text with all its macros replaced."""
        if "$" not in text:
            return text
        self.active.clear()
        self.steps = self.length = 0
        return self._expanded(text)

    def _counted(self, text: str) -> str:
        self.length += len(text)
        if self.length > _LONGEST:
            raise ModelError("its macros make a value without end.", "Use fewer macros that use each other.")
        return text

    def _expanded(self, text: str) -> str:
        if "$" not in self._counted(text):
            return text
        closing = _closing(text)
        pieces: list[str] = []
        at = 0
        while (start := text.find("$", at)) >= 0:
            pieces.append(text[at:start])
            replaced, at = self._replaced(text, start, closing)
            pieces.append(replaced)
        pieces.append(text[at:])
        return "".join(pieces)

    def _replaced(self, text: str, start: int, closing: dict[int, int]) -> tuple[str, int]:
        """What stands for the dollar at `start`, and where to go on."""
        if text.startswith("$$(", start):
            if self.only is not None or not text.startswith(_LITERAL, start):
                if self.only is None:
                    self.warn("$$(…) is a matched machine's attribute, not known here; it stays as it is.")
                return "$$(", start + 3
            return "$$", start + len(_LITERAL)
        if text.startswith("$$", start):
            return "$$", start + 2
        call = _CALL.match(text, start)
        end = closing.get(call.end() - 1) if call else None
        if call is None or end is None:
            return "$", start + 1
        self.at = start
        result = self._called(call[1], text[call.end() : end])
        return ("$", start + 1) if result is None else (result, end + 1)

    def _called(self, function: str, body: str) -> str | None:
        """The value of a macro or function; None if it is neither."""
        self.steps += 1
        if self.steps > _MOST or len(self.active) > _DEEPEST:
            raise ModelError("macros use each other without end.", "Use fewer of them.")
        if self.only is not None and re.split(r"[:,]", body, maxsplit=1)[0].strip().lower() != self.only:
            return None
        if not function:
            reference = _REFERENCE.fullmatch(body)
            return None if reference is None else self._value(reference[1], reference[2])
        files = _FILE_NAME.fullmatch(function)
        if files is None and function not in _FUNCTIONS:
            return None
        self.active.append(f"${function}()")
        try:
            if files is not None:
                return self._file_part(files[1], body)
            return _FUNCTIONS[function](self, body)
        finally:
            self.active.pop()

    def _value(self, name: str, default: str | None) -> str:
        key = name.lower()
        if key == "dollar":
            return "$"
        value = self.lookup(key)
        if not value:
            value = default or ""
            key = "(default)"
        elif self.only is not None:
            return self._counted(value)
        elif key in self.active:
            chain = [*self.active[self.active.index(key) :], key]
            raise ModelError(f"macro {shown(name)} refers to itself: {' -> '.join(chain[:8])}.", "Break the circle.")
        self.active.append(key)
        try:
            return self._expanded(value)
        finally:
            self.active.pop()

    # --- functions ---------------------------------------------------------------------------------------------

    def _argument(self, word: str) -> str:
        """What an argument of a function means: the macro of that name, else the word itself."""
        plain = self._expanded(word).strip(BLANK)
        if _REFERENCE.fullmatch(plain) and ":" not in plain:
            value = self.lookup(plain.lower())
            if value is not None:
                return self._value(plain, None)
        return plain

    def _integer(self, body: str) -> str:
        item, _, format = body.partition(",")
        return formatted(whole_number(self._argument(item)), format or "%d", "diuxXoc")

    def _real(self, body: str) -> str:
        item, _, format = body.partition(",")
        return formatted(float(number(self._argument(item))), format or "%.16G", "gGeEfF")

    def _string(self, body: str) -> str:
        item, _, format = body.partition(",")
        value = self._argument(item)
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = value[1:-1]
        return formatted(value, format or "%s", "s")

    def _evaluated(self, body: str) -> str:
        value = self._argument(body)
        try:
            return str(number(value))
        except ModelError:
            return value

    def _part(self, body: str) -> str:
        words = body.split(",")
        if not 2 <= len(words) <= 3:
            raise ModelError(f"$SUBSTR({_brief(body)}) wants two or three arguments.", "Name, start, length.")
        name = words[0].strip(BLANK)
        text = self._value(name, None) if _REFERENCE.fullmatch(name) else self._expanded(name)
        start = whole_number(self._argument(words[1]))
        start = max(0, len(text) + start) if start < 0 else min(start, len(text))
        if len(words) == 2:
            return text[start:]
        length = whole_number(self._argument(words[2]))
        return text[start : max(start, len(text) + length if length < 0 else start + length)]

    def _choice(self, body: str) -> str:
        index, *items = (word.strip(BLANK) for word in body.split(","))
        if len(items) == 1:
            items = [item.strip(BLANK) for item in self._argument(items[0]).split(",")]
        at = whole_number(self._argument(index))
        if not 0 <= at < len(items):
            raise ModelError(f"$CHOICE({_brief(body)}) has no item {at}.", "The first one is 0.")
        return self._expanded(items[at])

    def _random_choice(self, body: str) -> str:
        where = self._where()
        items = [item.strip(BLANK) for item in self._expanded(body).split(",")]
        if where is None:
            self.warn("$RANDOM_CHOICE is random when it is run; here it is its first choice.")
            return items[0]
        return late.choice(where, items)

    def _random_integer(self, body: str) -> str:
        where = self._where()
        numbers = [whole_number(self._argument(word)) for word in body.split(",")]
        if not 2 <= len(numbers) <= 3 or numbers[0] > numbers[1] or (len(numbers) == 3 and numbers[2] < 1):
            raise ModelError(f"$RANDOM_INTEGER({_brief(body)}) is no range.", "Least, most, and perhaps a step.")
        if where is None:
            self.warn("$RANDOM_INTEGER is random when it is run; here it is its least number.")
            return str(numbers[0])
        return late.integer(where, *numbers)

    def _where(self) -> str | None:
        """What tells this random choice from others; None where nothing is to be drawn. A macro is drawn once."""
        macro = next((key for key in reversed(self.active) if not key.startswith("$")), "")
        return None if self.line is None else f"{macro or self.line()}.{self.at}"

    def _environment(self, body: str) -> str:
        name, colon, default = body.partition(":")
        if self.environment is None:
            self.warn(f"$ENV({_brief(name)}) is not known here; it is {'its default' if colon else 'empty'}.")
            return self._expanded(default)
        found = self.environment(self._expanded(name).strip(BLANK))
        if found is not None:
            return found
        if not colon:
            self.warn(f"$ENV({_brief(name)}) is not set; it is UNDEFINED, as to HTCondor.")
        return self._expanded(default) if colon else "UNDEFINED"

    def _file_part(self, letters: str, body: str) -> str:
        if "f" in letters:
            self.warn("$Ff(…) cannot make a full path here: a relative one stays relative.")
        return file_part(self._argument(body), letters)


def _brief(text: str) -> str:
    return shown(text)[1:-1]


_FUNCTIONS: dict[str, Callable[[Expansion, str], str]] = {
    "INT": Expansion._integer,
    "REAL": Expansion._real,
    "STRING": Expansion._string,
    "EVAL": Expansion._evaluated,
    "SUBSTR": Expansion._part,
    "CHOICE": Expansion._choice,
    "RANDOM_CHOICE": Expansion._random_choice,
    "RANDOM_INTEGER": Expansion._random_integer,
    "ENV": Expansion._environment,
    "DIRNAME": lambda expansion, body: expansion._file_part("p", body),
    "BASENAME": lambda expansion, body: expansion._file_part("nx", body),
}


def file_part(path: str, letters: str) -> str:
    """The parts of a path that the letters of $F name; all of it if they name none."""
    if "w" in letters:
        path = path.replace("/", "\\")
    elif "u" in letters:
        path = path.replace("\\", "/")
    slash = max(path.rfind("/"), path.rfind("\\"))
    folder, name = path[: slash + 1], path[slash + 1 :]
    dot = name.rfind(".")
    stem, ending = (name[:dot], name[dot:]) if dot > 0 else (name, "")
    bare = "b" in letters
    if "d" in letters:
        above = max(folder.rfind("/", 0, -1), folder.rfind("\\", 0, -1))
        folder = folder[above + 1 :]
    if bare and not ("n" in letters or "x" in letters):
        folder = folder[:-1]
    found = folder if "p" in letters or "d" in letters else ""
    if "n" in letters:
        found += stem
    if "x" in letters:
        found += ending[1:] if bare and "n" not in letters else ending
    if not set(letters) & set("pdnx"):
        found = path
    if "q" in letters:
        found = f"'{found}'" if "a" in letters else f'"{found}"'
    return found


def _closing(text: str) -> dict[int, int]:
    """Where each parenthesis of a text is closed."""
    found: dict[int, int] = {}
    open_at: list[int] = []
    for match in re.finditer(r"[()]", text):
        if match[0] == "(":
            open_at.append(match.start())
        elif open_at:
            found[open_at.pop()] = match.start()
    return found
