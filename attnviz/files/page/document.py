"""The HTML of a page: its policy, its texts, where its numbers come from, its data and its code.

In: what the page shows, as plain values; the ES modules and style sheets of `attnviz.pictures`,
`viewer.js` and `boot.js`, joined into two scripts. Out: one HTML document that asks for nothing:
its policy allows the two scripts and one style sheet by their hashes and no connection at all. The
large script travels compressed and is started as the text whose hash the policy names; no part of
it can be changed, and nothing is evaluated. Every text from a capture is escaped here or becomes a
text node in the browser.
"""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnviz.i18n import Language, text
from attnviz.pictures.shared.bundle import SHARED, component_entry, join, stylesheet

HERE = Path(__file__).parent
COMPONENTS = ("grid", "head", "steps", "masks", "alignment", "patches")
LEVEL = 6  # of gzip: 9 takes four times as long for one percent
BUTTONS = {"picture": "save_picture", "theme": "theme"}  # each with its text, shown by the script


@dataclass(frozen=True)
class Page:
    """A page: its title, a line under it, where it comes from, and its data by name."""

    lang: Language
    title: str
    line: str
    origin: Sequence[tuple[str, str]]
    index: Mapping[str, object]
    blocks: Mapping[str, bytes]


def document(page: Page) -> str:
    """The whole file."""
    boot, style = boot_script(), page_style()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(boot)}' '{_hash(viewer_script())}'",
            f"style-src '{_hash(style)}'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    blocks = {"script": viewer_script().encode(), **page.blocks}
    origin = "".join(
        f"<dt>{html.escape(name)}</dt><dd><bdi>{html.escape(value)}</bdi></dd>"
        for name, value in page.origin
    )
    lines = (
        "<!doctype html>",
        f'<html lang="{page.lang}">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="attnviz">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{html.escape(_one_line(page.title))}</title>",
        f"<style>{style}</style></head>",
        "<body><header>",
        f"<h1><bdi>{html.escape(page.title)}</bdi></h1>",
        *(_button(page, name, said) for name, said in BUTTONS.items()),
        f"</header><p><bdi>{html.escape(page.line)}</bdi></p>",
        f'<main id="view"><noscript>{html.escape(_say(page, "needs_script"))}</noscript></main>',
        f'<p id="problem" role="alert" hidden>{html.escape(_say(page, "old_browser"))}</p>',
        f"<footer><dl>{origin}</dl></footer>",
        f'<script type="application/json" id="index">{_safe_json(page.index)}</script>',
        *(_block(name, data) for name, data in blocks.items()),
        f"<script>{boot}</script></body></html>\n",
    )
    return "\n".join(lines)


def _say(page: Page, name: str) -> str:
    return text(page.lang, f"file.{name}")


def _button(page: Page, name: str, said: str) -> str:
    return f'<button type="button" id="{name}" hidden>{html.escape(_say(page, said))}</button>'


def _block(name: str, data: bytes) -> str:
    packed = base64.b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()
    return f'<script type="application/gzip-base64" data-part="{name}">{packed}</script>'


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _safe_json(value: object) -> str:
    """JSON that can stand in a script element: no markup, no line separators of JavaScript."""
    written = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        written = written.replace(char, f"\\u{ord(char):04x}")
    return written


@cache
def viewer_script() -> str:
    """The components and what shows them: a script that starts when it runs."""
    entries = {name: component_entry(name) for name in COMPONENTS}
    bundle = join({**entries, "viewer": HERE / "viewer.js"})
    listed = ", ".join(f"{name}: {bundle.entries[name]}.default" for name in COMPONENTS)
    sheets = json.dumps({name: stylesheet(name) for name in (SHARED, *COMPONENTS)})
    start = f"{bundle.entries['viewer']}.default({{ {listed} }}, {sheets});\n"
    return _alone(bundle.script + start)


@cache
def boot_script() -> str:
    """The script that unpacks and starts the other one."""
    bundle = join({"boot": HERE / "boot.js"})
    return _alone(f"{bundle.script}{bundle.entries['boot']}.default();\n")


@cache
def page_style() -> str:
    """The style sheet of the page around the components, with the app's colours."""
    return (HERE / "page.css").read_text(encoding="utf-8")


def _alone(script: str) -> str:
    """A script in a scope of its own, which no markup can end."""
    assert "</script" not in script.lower() and "<!--" not in script
    return f'(() => {{\n"use strict";\n{script}}})();\n'
