"""What Python 2 scripts say that Python 3 does not understand, and how to say it now."""

from __future__ import annotations

import ast
import re

from headway.model.record import record


@record
class Idiom:
    """A Python 2 idiom and its port."""

    what: str
    port: str


_NAMES = {
    "xrange": "range(...)",
    "raw_input": "input(...)",
    "unicode": "str",
    "basestring": "str",
    "unichr": "chr(...)",
    "long": "int",
    "reduce": "functools.reduce(...)",
    "file": "open(...)",
    "execfile": "exec(open(...).read())",
    "reload": "importlib.reload(...)",
    "cmp": "(a > b) - (a < b), or sort by a key",
    "apply": "f(*arguments)",
}
_CERTAIN = {"xrange", "raw_input", "unicode", "basestring", "unichr", "execfile"}  # others may be a user's own
_STRING = {
    "join": "separator.join(words)",
    "letters": "string.ascii_letters",
    "lowercase": "string.ascii_lowercase",
    "uppercase": "string.ascii_uppercase",
    "atoi": "int(text)",
    "atof": "float(text)",
    "maketrans": "str.maketrans(...)",
}
_METHODS = {
    "has_key": "key in mapping",
    "iteritems": ".items()",
    "itervalues": ".values()",
    "iterkeys": ".keys()",
    "maxint": "sys.maxsize",
    "getcwdu": "os.getcwd()",
    "im_func": "__func__",
    "func_name": "__name__",
    "setdefaultencoding": "nothing: text is Unicode",
}
_MODULES = {
    "ConfigParser": "configparser",
    "Queue": "queue",
    "StringIO": "io",
    "cStringIO": "io",
    "cPickle": "pickle",
    "commands": "subprocess",
    "sets": "the built-in set",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "httplib": "http.client",
    "__builtin__": "builtins",
    "thread": "_thread",
    "md5": "hashlib",
    "sha": "hashlib",
    "Tkinter": "tkinter",
    "cookielib": "http.cookiejar",
}
_MOVED = {  # names that left a module
    "izip": "zip(...)",
    "imap": "map(...)",
    "ifilter": "filter(...)",
    "izip_longest": "itertools.zip_longest(...)",
    "urlopen": "urllib.request.urlopen(...)",
    "urlretrieve": "urllib.request.urlretrieve(...)",
    "urlencode": "urllib.parse.urlencode(...)",
    "quote": "urllib.parse.quote(...)",
    "unquote": "urllib.parse.unquote(...)",
    "StringType": "str",
    "UnicodeType": "str",
    "IntType": "int",
    "LongType": "int",
    "FloatType": "float",
    "ListType": "list",
    "TupleType": "tuple",
    "DictType": "dict",
    "NoneType": "type(None)",
    "popen2": "subprocess.Popen(...)",
    "popen3": "subprocess.Popen(...)",
    "popen4": "subprocess.Popen(...)",
}
_LAZY = "range|map|filter|zip|dict_keys|dict_values|dict_items"

# What the message says, what the line says, the idiom, its port.
_SYNTAX: list[tuple[str, str, str, str]] = [
    (r"call to 'print'", "", "print without parentheses", "print(...)"),
    (r"call to 'exec'", "", "exec without parentheses", "exec(...)"),
    (r"multiple exception types", "", "except with a comma", "except X as e:"),
    ("", r"\bexcept\b[^:]*,\s*\w+\s*:", "except with a comma", "except X as e:"),
    ("", r"^\s*print\b(?!\s*\()", "print without parentheses", "print(...)"),
    ("", r"^\s*exec\b(?!\s*\()", "exec without parentheses", "exec(...)"),
    ("", r"^\s*raise\s+[\w.]+\s*,", "raise with a comma", "raise X(message)"),
    ("^invalid syntax", r"`", "`...` in backticks", "repr(...)"),
    ("^invalid syntax", r"<>", "<>", "!="),
    (r"leading zeros|invalid decimal literal|octal", r"\b0[0-7]+\b", "an octal number such as 0777", "0o777"),
    ("decimal literal", r"\b\d+[lL]\b", "a long number such as 10L", "10"),
    ("", r"\b[uU][rR]['\"]", "a string such as ur''", "r''"),
    ("", r"\bdef\s+\w+\s*\((?:[^()]*,)?\s*\(\s*\w+\s*,", "a tuple as parameter", "one name, and unpack it inside"),
    (r"inconsistent use of tabs", "", "an indentation of tabs and spaces", "spaces only"),
]
_RUNTIME: list[tuple[str, str, str, str]] = [
    (r"'float' object cannot be interpreted as an integer", r"/", "/ for a whole number", "//, as in (n + 1)//2"),
    (r"indices must be integers.*not.*float", r"", "/ for a whole number", "//, as in (n + 1)//2"),
    (r"can't multiply sequence by non-int of type 'float'", r"", "/ for a whole number", "//, as in (n + 1)//2"),
    (r"for >>: 'builtin_function_or_method'", r"print", "print >>file", "print(..., file=file)"),
    (
        rf"'(?:{_LAZY})' object (?:is not subscriptable|has no attribute)",
        "",
        "a list that is none now",
        "list(...) of it",
    ),
    (rf"object of type '(?:{_LAZY})' has no len", "", "a list that is none now", "list(...) of it"),
    (rf"for \+: '(?:{_LAZY})' and|for \+: 'list' and '(?:{_LAZY})'", "", "a list that is none now", "list(...) of it"),
    (rf'can only concatenate list \(not "(?:{_LAZY})"', "", "a list that is none now", "list(...) of it"),
    (r"'\w*(?:generator|iterator)' object has no attribute 'next'", "", ".next()", "next(...)"),
    (r"sort\(\) takes no positional arguments", "", "sort(compare)", "sort(key=...)"),
    (
        r"'cmp' is an invalid keyword argument|unexpected keyword argument 'cmp'",  # until Python 3.12, and since
        "",
        "sort(cmp=...)",
        "sort(key=functools.cmp_to_key(...))",
    ),
    (r"'str' object has no attribute 'decode'", "", "decode() of text", "the text itself"),
    (r"exceptions must derive from BaseException", r"raise\s+['\"]", "raise of a text", "raise Exception(message)"),
]
_UNKNOWN_NAME = re.compile(r"name '(\w+)' is not defined")
_NO_ATTRIBUTE = re.compile(r"(module '(?P<module>\w+)'|'\w+' object) has no attribute '(?P<name>\w+)'")
_NO_IMPORT = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>\w+)'")
_NO_MODULE = re.compile(r"No module named '(\w+)'")


def idiom(kind: str, message: str, line: str) -> Idiom | None:
    """The idiom behind an exception of this kind and message, raised by this line of source."""
    if kind in ("SyntaxError", "IndentationError", "TabError"):
        return _matching(_SYNTAX, message, line)
    if found := _UNKNOWN_NAME.match(message):
        name = found[1]
        sure = name in _CERTAIN or re.search(rf"\b{name}\s*\(", line)
        return _known(name, _NAMES, name) if sure else None
    if found := _NO_MODULE.match(message):
        return _known(found[1], _MODULES, f"import {found[1]}")
    if found := _NO_ATTRIBUTE.match(message) or _NO_IMPORT.match(message):
        name = found["name"]
        if found["module"] in ("itertools", "urllib", "types", "os") and name in _MOVED:
            return Idiom(f"{found['module']}.{name}", _MOVED[name])
        if found["module"] == "string":
            return Idiom(f"string.{name}", _STRING.get(name, f"text.{name}(...)"))
        if name in _METHODS:
            return Idiom(name, _METHODS[name])
    return _matching(_RUNTIME, message, line) if kind in ("TypeError", "AttributeError") else None


def _known(name: str, ports: dict[str, str], what: str) -> Idiom | None:
    return Idiom(what, ports[name]) if name in ports else None


def _matching(table: list[tuple[str, str, str, str]], message: str, line: str) -> Idiom | None:
    for in_message, in_line, what, port in table:
        if re.search(in_message, message) and re.search(in_line, line):
            return Idiom(what, port)
    return None


def other_idioms(source: bytes, line: int) -> str:
    """The lines of a script that will fail next, so that it is ported in one go."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    found: dict[str, set[int]] = {}
    for node in ast.walk(tree):
        what = _old(node)
        if what and node.lineno != line:  # type: ignore[attr-defined]
            found.setdefault(what, set()).add(node.lineno)  # type: ignore[attr-defined]
    told = [f"{what} in line{'s' * (len(at) > 1)} {', '.join(map(str, sorted(at)[:9]))}" for what, at in found.items()]
    return f"Then: {'; '.join(told)}." if told else ""


def _old(node: ast.AST) -> str:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _CERTAIN:
        return node.id
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "string" and node.attr in _STRING:
            return f"string.{node.attr}"
        if node.attr in ("has_key", "iteritems", "itervalues", "iterkeys"):
            return node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        divided = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div) for part in node.args)
        return "/ in range" if node.func.id == "range" and divided else ""
    return ""
