"""The rules of docs and style that a machine can check, each a function of one file.

Each takes a file's name and its text and returns what is wrong with it, one line per finding. A
contract test runs the rule over the project; its sibling feeds it a violation.
What is particular to Streamlit is in streamlit_rules.py.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

MODULE_LINES = 600
FUNCTION_LINES = 60
PAGE_LINES = 60
DOCSTRING_LINES = range(3, 16)
# the files with the one pattern of a head's name, one for each language
HEAD_NAMES = {"attnviz/types.py", "attnviz/pictures/shared/fmt.js"}
HEAD_NAME = re.compile(r"(?<![A-Za-z])[LH]\(?(?:\?P?<\w+>)?(?:\\d|\[0-9)")
RIDDLE = re.compile(r"(What|Which|Whether|How)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1)
def parse(source: str) -> ast.Module:
    """The syntax tree of a file; the rules on one file after the other share it."""
    return ast.parse(source)


@lru_cache(maxsize=1)
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Every node of a tree, which all rules on a file walk through together."""
    return tuple(ast.walk(tree))


def functions(tree: ast.AST) -> Iterator[Function]:
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute chain, "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


# --- size and form -----------------------------------------------------------------------------


def module_size(name: str, source: str, limit: int = MODULE_LINES) -> list[str]:
    lines = len(source.splitlines())
    return [f"{name}: {lines} lines, {limit} are allowed"] if lines > limit else []


def function_size(name: str, source: str) -> list[str]:
    found = []
    for function in functions(parse(source)):
        first = function.body[0]
        has_docstring = ast.get_docstring(function) is not None
        docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
        lines = (function.end_lineno or 0) - function.lineno + 1 - docstring
        if lines > FUNCTION_LINES:
            found.append(f"{name}: {function.name} has {lines} lines, {FUNCTION_LINES} are allowed")
    return found


def module_docstring(name: str, source: str) -> list[str]:
    docstring = ast.get_docstring(parse(source))
    if docstring is None:
        return [f"{name}: no module docstring"]
    lines = len(docstring.splitlines())
    if lines not in DOCSTRING_LINES:
        return [f"{name}: module docstring of {lines} lines, 3 to 15 are allowed"]
    return []


def docstring_opening(name: str, source: str) -> list[str]:
    """Docstrings state what is returned or done; they do not open with a question word."""
    findings = []
    for node in nodes(parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | Function):
            continue
        docstring = ast.get_docstring(node) or ""
        if opening := RIDDLE.match(docstring):
            line = node.body[0].lineno
            findings.append(f"{name}:{line}: a docstring opens with {opening[0]}; state it")
    return findings


def page_form(name: str, source: str) -> list[str]:
    """A page has a docstring, at most one function, `main`, and no class."""
    tree = parse(source)
    found = module_size(name, source, PAGE_LINES)
    if ast.get_docstring(tree) is None:
        found.append(f"{name}: no module docstring")
    found += [f"{name}: def {f.name}" for f in functions(tree) if f.name != "main"]
    found += [f"{name}: class {n.name}" for n in nodes(tree) if isinstance(n, ast.ClassDef)]
    found += [
        f"{name}: arithmetic" for n in nodes(tree) if isinstance(n, ast.BinOp) and not _union(n)
    ]
    found += [
        f"{name}: imports {m}" for m in imports(tree) if m.split(".")[0] in {"torch", "numpy"}
    ]
    return found


def _union(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.BitOr)


def swallowed_errors(name: str, source: str) -> list[str]:
    """A handler of everything must not just pass."""
    found = []
    for node in nodes(parse(source)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        broad = node.type is None or dotted(node.type) in {"Exception", "BaseException"}
        if broad and all(isinstance(line, ast.Pass) for line in node.body):
            found.append(f"{name}:{node.lineno}: swallows every error")
    return found


def postponed_annotations(name: str, source: str) -> list[str]:
    """`from __future__ import annotations` turns off the check of shapes in tests."""
    return [
        f"{name}: {module}"
        for module in imports(parse(source))
        if module == "__future__.annotations"
    ]


# --- never -------------------------------------------------------------------------------------

PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve"}
NETWORKERS = {"requests", "urllib.request", "http.client", "httpx", "aiohttp", "ftplib", "smtplib"}
WEB_BANNED = {
    "an address outside": re.compile(r"https?://|[\"'(]//[a-z]", re.IGNORECASE),
    "text read as markup": re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc"
    ),
    "text run as code": re.compile(r"\beval\s*\(|new\s+Function\b|javascript:"),
    "a request": re.compile(
        r"\bfetch\s*\(|XMLHttpRequest|new WebSocket|EventSource|sendBeacon|@font-face"
        r"|@import(?! \{)|\bimport\s*\((?!\"\.{1,2}/)"  # both name types in comments
    ),
    "storage in the browser": re.compile(r"localStorage|sessionStorage|document\.cookie|indexedDB"),
}


# a class's pages are told when to run: one socket, to the server that the page came from
ONE_SOCKET = {
    "attnviz/pictures/class_messages/line.js": "new WebSocket(besidePage(place))",
}
# the live widget shows a whole page that attnviz wrote, in a frame without an origin
ONE_FRAME = {
    "attnviz/notebook/widget.js": 'frame.srcdoc = model.get("page")',
}
# where a visitor left, progress in the lessons, light or dark: in the browser, not on the server
KEPT_IN_THE_BROWSER = (
    "attnviz/pictures/resume/canvas.js",
    "attnviz/pictures/card_scroller/canvas.js",
    "attnviz/app/host/scheme.js",
    "attnviz/pictures/class_messages/kept.js",
)
ALLOWED_ONCE = ONE_SOCKET | ONE_FRAME


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of everything imported; `from a import b` gives `a.b`."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def pickles(name: str, source: str) -> list[str]:
    """No pickle in or out, under any of its names."""
    tree = parse(source)
    found = [f"{name}: imports {m}" for m in imports(tree) if m.split(".")[0] in PICKLERS]
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        if dotted(node.func) in {"torch.load", "torch.save"}:
            found.append(f"{name}:{node.lineno}: {dotted(node.func)} pickles")
        allowed = [k for k in node.keywords if k.arg == "allow_pickle"]
        if any(not (isinstance(k.value, ast.Constant) and k.value.value is False) for k in allowed):
            found.append(f"{name}:{node.lineno}: allow_pickle")
    return found


def reaches_network(name: str, source: str) -> list[str]:
    """Only transformers may download, and only what a caller names."""
    return [
        f"{name}: imports {module}"
        for module in imports(parse(source))
        if any(module == banned or module.startswith(f"{banned}.") for banned in NETWORKERS)
    ]


SVG = '"http://www.w3.org/2000/svg"'  # a namespace: a name that nothing is loaded from


def web_never(name: str, source: str) -> list[str]:
    """Components load nothing, store nothing, and show text as text."""
    return [
        f"{name}:{number}: {what}: {line.strip()[:80]}"
        for number, line in enumerate(source.splitlines(), start=1)
        for what, pattern in WEB_BANNED.items()
        if not (what == "storage in the browser" and name in KEPT_IN_THE_BROWSER)
        and pattern.search(line.replace(ALLOWED_ONCE.get(name, "\n"), "").replace(SVG, ""))
    ]


def web_checked(name: str, source: str) -> list[str]:
    """JavaScript is checked for types as it is written: every file asks its editor to."""
    if name.endswith(".js") and not source.startswith("// @ts-check\n"):
        return [f"{name}: does not start with // @ts-check"]
    return []


def head_patterns(name: str, source: str) -> list[str]:
    """Find a second regular expression for the name of a head: it will forget a stack."""
    lines = [line.strip() for line in source.splitlines() if HEAD_NAME.search(line)]
    found = lines[1:] if name in HEAD_NAMES else lines
    return [
        f"{name}: {line}: read names with Site.parse, or headsNamed of fmt.js" for line in found
    ]
