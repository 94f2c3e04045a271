"""Joins a component's ES modules into the one script that Streamlit mounts inline.

In: a component's name (a folder beside this file with `component.js`, optionally more `*.js` and
`component.css`). Out: one JavaScript text and one CSS text. Starting at `component.js`,
single-line `import {a} from "../x.js";` lines are followed depth first, so only modules that are
used travel, each once, dependencies first; the `import` lines and the `export ` keyword of
everything but the default export are dropped, as are comments that fill whole lines. All modules
share one scope afterwards: two top-level names that are equal are refused here rather than by the
browser.
"""

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}\n]*\} from "(\.{1,2}/[\w./-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*?|const|let|class) ([\w$]+)", re.MULTILINE)
_BLOCK_COMMENT = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL)
_INLINE_TYPE = re.compile(r"/\*\* @type \{(?:(?!\*/).)*\} \*/ ?")
_LINE_COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)


class BundleError(ValueError):
    """A component's modules cannot be joined: our bug, found by the tests."""


@cache
def script(name: str) -> str:
    """The JavaScript of a component: one ES module with a default export."""
    entry = FOLDER / name / "component.js"
    sources = {path: path.read_text(encoding="utf-8") for path in modules(entry)}
    _refuse_clashes(sources)
    body = "\n".join(_strip(text) for text in sources.values())
    if body.count("\nexport default ") + body.startswith("export default ") != 1:
        raise BundleError(f"{entry} must have exactly one default export")
    return body


@cache
def stylesheet(name: str) -> str:
    """The CSS of a component: the shared sheet, then its own."""
    own = FOLDER / name / "component.css"
    shared = (FOLDER / "shared" / "style.css").read_text(encoding="utf-8")
    return shared + (own.read_text(encoding="utf-8") if own.exists() else "")


def modules(entry: Path) -> tuple[Path, ...]:
    """A module and everything it imports, dependencies first, each once."""
    found: dict[Path, None] = {}

    def visit(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise BundleError(f"{path} imports itself through {[p.name for p in above]}")
        if path in found:
            return
        for target in _IMPORT.findall(path.read_text(encoding="utf-8")):
            visit((path.parent / target).resolve(), (*above, path))
        found[path] = None

    visit(entry.resolve(), ())
    return tuple(found)


def _strip(text: str) -> str:
    text = _EXPORT.sub("", _IMPORT.sub("", text))
    text = _INLINE_TYPE.sub("", _BLOCK_COMMENT.sub("", text))
    return _LINE_COMMENT.sub("", text)


def _refuse_clashes(sources: dict[Path, str]) -> None:
    owner: dict[str, Path] = {}
    for path, text in sources.items():
        for name in _TOP_LEVEL.findall(_EXPORT.sub("", text)):
            if name in owner:
                raise BundleError(f"{name} is defined in {owner[name].name} and in {path.name}")
            owner[name] = path
