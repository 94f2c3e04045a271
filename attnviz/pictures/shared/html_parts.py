"""The parts of an HTML page of ours: its style, its data, its scripts, and what its policy allows.

In: texts, plain values and joined modules. Out: pieces of markup. Data stands in script elements
that no browser runs, as JSON that cannot end its element or packed in base64; a policy names
scripts and style sheets by their hashes.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from attnviz.pictures.shared.bundle import SHARED, Bundle, component_entry, join, stylesheet

HERE = Path(__file__).parent
LEVEL = 6  # of gzip: 9 takes four times as long for one percent


@cache
def page_style() -> str:
    """The style sheet of a page around components, with the app's colours."""
    return (HERE / "page.css").read_text(encoding="utf-8")


@cache
def boot_script() -> str:
    """The script that unpacks the part "script" of its page and runs it."""
    bundle = join({"boot": HERE / "boot.js"})
    return alone(f"{bundle.script}{bundle.entries['boot']}.default();\n")


def script_with(components: Iterable[str], host: Path) -> str:
    """The components and their host in one script, which starts the host when it runs.

    The host is the default export of a module: it takes the components and the style sheets.
    """
    names = tuple(components)
    bundle = join({**_entries(names), "host": host})
    return alone(f"{bundle.script}{bundle.entries['host']}.default({_mounted(bundle, names)});\n")


def scripts_with(components: Iterable[str], later: Iterable[str], host: Path) -> tuple[str, str]:
    """`script_with` in two parts: the host with some components, and a script with the others.

    The second part may be fetched at any time: it calls `attnvizLater`, a function of the page,
    with its components and their style sheets.
    """
    names, others = tuple(components), tuple(later)
    first = join({**_entries(names), "host": host})
    second = join(_entries(others), before=first)
    lent = f"{{ {', '.join(second.borrowed)} }}"
    start = f"{first.entries['host']}.default({_mounted(first, names)});\n"
    return (
        alone(f"{first.script}globalThis.attnvizModules = {lent};\n{start}"),
        alone(
            f"const {lent} = attnvizModules;\n{second.script}"
            f"attnvizLater({_mounted(second, others, shared=False)});\n"
        ),
    )


def _entries(names: tuple[str, ...]) -> dict[str, Path]:
    return {name: component_entry(name) for name in names}


def _mounted(bundle: Bundle, names: tuple[str, ...], shared: bool = True) -> str:
    """Components and style sheets as the two arguments of a call."""
    listed = ", ".join(f"{name}: {bundle.entries[name]}.default" for name in names)
    sheets = {name: stylesheet(name) for name in ((SHARED, *names) if shared else names)}
    return f"{{ {listed} }}, {json.dumps(sheets)}"


def alone(script: str) -> str:
    """A script in a scope of its own, which no markup can end."""
    assert "</script" not in script.lower() and "<!--" not in script
    return f'(() => {{\n"use strict";\n{script}}})();\n'


def block(name: str, data: bytes) -> str:
    """A part of a page, compressed; `unpackPart` of unpack.js reads it."""
    packed = base64.b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()
    return f'<script type="application/gzip-base64" data-part="{name}">{packed}</script>'


def plain_json(value: object) -> str:
    """JSON without spaces, in ASCII."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def safe_json(value: object) -> str:
    """JSON that can stand in a script element: no markup, no line separators of JavaScript."""
    written = plain_json(value)
    for char in "<>&":
        written = written.replace(char, f"\\u{ord(char):04x}")
    return written


def source_hash(source: str) -> str:
    """A script or style sheet, as a policy names it."""
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
