"""The HTML of a page: its policy, its texts, where its numbers come from, its data and its code.

In: what the page shows, as plain values; the ES modules and style sheets of `attnviz.pictures`,
`viewer.js` and `shared/boot.js`, joined into two scripts. Out: one HTML document that asks for
nothing: its policy allows the two scripts and one style sheet by their hashes and no connection at
all. The large script travels compressed and is started as the text whose hash the policy names; no
part of it can be changed, and nothing is evaluated. Every text from a capture is escaped here or
becomes a text node in the browser.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnviz.i18n import Language, tag, text
from attnviz.pictures.shared.html_parts import (
    block,
    boot_script,
    page_style,
    safe_json,
    script_with,
    source_hash,
)

HERE = Path(__file__).parent
COMPONENTS = ("grid", "head", "steps", "masks", "alignment", "patches")
BUTTONS = {"picture": "save_picture", "theme": "theme"}  # each with its text, shown by the script


@dataclass(frozen=True)
class Page:
    """A page: its title, a line under it, where it comes from, and its data by name.

    `tokens` is "any" where its tokens may be in another language than English.
    """

    lang: Language
    tokens: str
    title: str
    line: str
    origin: Sequence[tuple[str, str]]
    index: Mapping[str, object]
    blocks: Mapping[str, bytes]


def document(page: Page) -> str:
    """The whole file."""
    boot, style, one_line = boot_script(), page_style(), " ".join(page.title.split())
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {source_hash(boot)} {source_hash(viewer_script())}",
            f"style-src {source_hash(style)}",
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
        f'<html lang="{tag(page.lang)}" data-tokens="{page.tokens}">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="attnviz">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{html.escape(one_line)}</title>",
        f"<style>{style}</style></head>",
        "<body><header>",
        f"<h1><bdi>{html.escape(page.title)}</bdi></h1>",
        *(
            f'<button type="button" id="{name}" hidden>{html.escape(_say(page, said))}</button>'
            for name, said in BUTTONS.items()
        ),
        f"</header><p><bdi>{html.escape(page.line)}</bdi></p>",
        f'<main id="view"><noscript>{html.escape(_say(page, "needs_script"))}</noscript></main>',
        f'<p id="problem" role="alert" hidden>{html.escape(_say(page, "old_browser"))}</p>',
        f"<footer><dl>{origin}</dl></footer>",
        f'<script type="application/json" id="index">{safe_json(page.index)}</script>',
        *(block(name, data) for name, data in blocks.items()),
        f"<script>{boot}</script></body></html>\n",
    )
    return "\n".join(lines)


def _say(page: Page, name: str) -> str:
    return text(page.lang, f"file.{name}")


@cache
def viewer_script() -> str:
    """The components and what shows them: a script that starts when it runs."""
    return script_with(COMPONENTS, HERE / "viewer.js")
