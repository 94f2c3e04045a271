"""The HTML of a live page, on a site and as one file, with what its script is told and its policy.

In: models, a language, where files are. Out: a document. It asks for nothing but the files beside
it, or for nothing at all where it is one file; its policy says so to the browser. Its script writes
what a visitor types as text nodes only.
"""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.i18n import Language, catalogue, tag, text
from attnviz.live.model import LiveModel, first_picture
from attnviz.live.prepared import worker_texts
from attnviz.pictures import drawing_pad
from attnviz.pictures.drawing_pad import PAD_SIDE_PX, pad
from attnviz.pictures.shared.bundle import join
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.html_parts import (
    alone,
    block,
    boot_script,
    page_style,
    safe_json,
    script_with,
    scripts_with,
    source_hash,
)
from attnviz.pictures.shared.pages import BEHIND, ROWS
from attnviz.pictures.stage import STAGED

HERE = Path(__file__).parent
KERNELS = HERE / "engine" / "kernels.wasm"
FIRST = ("stage",)  # what a page opens with; the script of the others comes after it
LATER = (
    "grid", "head", "patches", "steps", "masks", "switches", "bars", "writing",
    "alignment", "drawing_pad",
)  # fmt: skip
TABS = {
    "stage": "page.start.title",
    "overview": "page.overview.title",
    "picture": "file.picture",
    "head": "page.head.title",
    "switches": "page.switches.title",
    "output": "page.output.title",
    "steps": "page.steps.title",
    "masks": "page.masks.title",
}
ROOMS = {"stage": "start", "picture": "look"}  # of tabs that the app has no door to
GROUPS = ("self", "encoder_self", "decoder_self", "decoder_cross")
OFF = ("mean", "zero", "even")  # `Off` of index.d.ts
REASONS = (  # `Reason` of index.d.ts
    "fetch", "file", "architecture", "tokenizer", "changes", "input", "wasm", "memory", "internal",
)  # fmt: skip
SAID_BY_SCRIPT = (
    "examples", "loading", "loading_of", "status", "dropped", "answer_next_token", "answer_classes",
    "answer_target", "write", "stop", "coarse", "coarse_left", "coarse_waits", "comparing",
    "verified", "not_verified", "other_tokens", "spoken", "spoken_answer",
    *(f"refused.{reason}" for reason in REASONS),
)  # fmt: skip
SAID_BY_PAGE = (
    "tagline", "model", "about", "text", "examples", "loading", "write", "clear", "settings",
    "temperature", "top_k", "top_p", "exact", "retry", "whole",
)  # fmt: skip
SAMPLING = {  # the largest value, the step, the value at first
    "temperature": (5, 0.1, 0.8),
    "top_k": (1000, 1, 0),
    "top_p": (1, 0.05, 1),
}
MAX_CHARS = 4000
ALONE = (  # the policy of both forms
    "default-src 'none'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
)


@dataclass(frozen=True)
class PageLink:
    """A link in the page: its text, its address, and the language that it leads to."""

    label: str
    address: str
    lang: Language | None = None


@dataclass(frozen=True)
class SitePlace:
    """Where the page finds its files: their folder, and the addresses in it.

    `root` is None in a page that is one file; `offline` is None where there is no service worker,
    `later` where all canvases are in the page's own script.
    """

    root: str | None
    worker: str = "worker"
    kernels: str = "kernels.wasm"
    offline: str | None = None
    later: str | None = None


def index(models: Mapping[str, LiveModel], lang: Language, place: SitePlace) -> dict[str, Any]:
    """`PageIndex` of state.d.ts; models by the folder of their files."""
    has_pictures = any(model.info["kind"] == "vision" for model in models.values())
    view = packed(drawing_pad.CANVAS, pad(first_picture()), lang)
    return {
        "language": lang,
        "root": place.root,
        "worker": place.worker,
        "offline": place.offline,
        "later": place.later,
        "models": {
            model.name: model.page_model(lang, folder, place.kernels)
            for folder, model in models.items()
        },
        "titles": {tab: text(lang, key) for tab, key in TABS.items()},
        "rooms": _rooms(lang),
        "scenes": _scenes(models.values()),
        "other_text": STAGED["animal"].yardsticks[-1][1],
        "groups": {name: text(lang, f"attention.{name}") for name in GROUPS},
        "texts": {name: catalogue(lang)[f"live.{name}"] for name in SAID_BY_SCRIPT},
        "off": {name: text(lang, f"switchboard.to_{name}") for name in OFF},
        "worker_texts": worker_texts(lang),
        "pad": {"view": base64.b64encode(view).decode(), "side": PAD_SIDE_PX}
        if has_pictures
        else None,
    }


def _rooms(lang: Language) -> list[tuple[str, list[str]]]:
    """The rooms of the app that have tabs here, each with its name; the stage stands alone."""
    own: dict[str, str] = {row.name: row.room for row in ROWS}
    own |= {door: own[page] for door, (page, _) in BEHIND.items()} | ROOMS
    rooms: dict[str, list[str]] = {}
    for tab in TABS:
        rooms.setdefault(own[tab], []).append(tab)
    return [
        ("" if room == "start" else text(lang, f"room.{room}"), tabs)
        for room, tabs in rooms.items()
    ]


def _scenes(models: Iterable[LiveModel]) -> list[dict[str, Any]]:
    """The sentences of the stage whose models are there."""
    names = {model.name for model in models}
    return [
        {
            "scene": scene,
            "model": staged.model,
            "text": staged.text,
            "cell": {"query": staged.query, "key": staged.key},
            "tried": None if staged.tried is None else asdict(staged.tried),
            "yardsticks": staged.yardsticks,
        }
        for scene, staged in STAGED.items()
        if staged.model in names
    ]


def site_page(
    told: Mapping[str, Any],
    script: str,
    style: str,
    languages: Sequence[PageLink],
    links: Iterable[PageLink],
) -> str:
    """A page of a site, whose script and style sheet are files."""
    policy = (
        *ALONE,
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self'",
        "connect-src 'self'",
        "style-src 'self'",
    )
    head = f'<link rel="stylesheet" href="{style}">'
    end = f'<script src="{script}" defer></script>'
    return _document(told, policy, head, end, (*languages,), tuple(links))


def single_page(told: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
    """A page that is one file: the worker and all files are parts of it."""
    boot, style, script = boot_script(), live_style(), page_script()
    policy = (
        *ALONE,
        f"script-src {source_hash(boot)} {source_hash(script)} 'wasm-unsafe-eval'",
        "worker-src blob:",
        f"style-src {source_hash(style)}",
    )
    parts = {"script": script.encode(), "worker": worker_script().encode()}
    parts |= {f"file:{name}": content for name, content in files.items()}
    blocks = "\n".join(block(name, content) for name, content in parts.items())
    end = f"{blocks}\n<script>{boot}</script>"
    return _document(told, policy, f"<style>{style}</style>", end, (), ())


@cache
def page_script() -> str:
    """The canvases and the page, in one script."""
    return script_with((*FIRST, *LATER), HERE / "page.js")


@cache
def page_scripts() -> tuple[str, str]:
    """The page with the canvas that it opens with, and the script of all other canvases."""
    return scripts_with(FIRST, LATER, HERE / "page.js")


@cache
def worker_script() -> str:
    """The worker: engine, reading and views."""
    bundle = join({"worker": HERE / "worker.js"})
    return alone(f"{bundle.script}{bundle.entries['worker']}.default(self);\n")


@cache
def live_style() -> str:
    """The style sheet around the canvases."""
    return page_style() + (HERE / "page.css").read_text(encoding="utf-8")


def _document(
    told: Mapping[str, Any],
    policy: Iterable[str],
    head: str,
    end: str,
    languages: Sequence[PageLink],
    links: Sequence[PageLink],
) -> str:
    lang: Language = told["language"]
    say = {name: html.escape(catalogue(lang)[f"live.{name}"]) for name in SAID_BY_PAGE}
    title, about = html.escape(text(lang, "live.title")), say["tagline"]
    theme = html.escape(text(lang, "file.theme"))
    lines = (
        "<!doctype html>",
        f'<html lang="{tag(lang)}">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="attnviz">',
        '<meta name="referrer" content="no-referrer">',
        f'<meta name="description" content="{about}">',
        f'<title>{title}</title><link rel="icon" href="data:,">',
        f"{head}</head>",
        f"<body><header><h1>attnviz</h1>{_choices(told, say)}",
        _nav(languages),
        f'<button type="button" id="theme" aria-label="{theme}" title="{theme}" hidden>◐</button>',
        "</header>",
        _main(told, lang, say),
        f'<footer>{_nav(links)}<a class="whole" target="_blank" rel="noopener"'
        f' id="whole">{say["whole"]}</a></footer>',
        f'<script type="application/json" id="index">{safe_json(told)}</script>',
        f"{end}</body></html>\n",
    )
    return "\n".join(lines)


def _choices(told: Mapping[str, Any], say: Mapping[str, str]) -> str:
    """The model, what it is, and its examples, in the line of the heading."""
    first = next(iter(told["models"].values()))
    return f"""<div class="controls"><label><span class="unseen">{say["model"]}</span>
<select id="model"></select></label>
<details class="about"><summary aria-label="{say["about"]}" title="{say["about"]}">?</summary>
<p id="about">{html.escape(first["description"])}</p></details>
<select id="example" aria-label="{say["examples"]}" hidden></select></div>"""


def _main(told: Mapping[str, Any], lang: Language, say: Mapping[str, str]) -> str:
    """The field, the lines under it, the tabs and the place of the canvases."""
    first = next(iter(told["models"].values()))
    typed = html.escape(next(iter(first["examples"]), ""))
    needs_script = html.escape(text(lang, "file.needs_script"))
    views, groups = (html.escape(text(lang, f"file.{name}")) for name in ("views", "groups"))
    off, measure = (html.escape(text(lang, f"switchboard.{name}")) for name in ("to", "measure"))
    return f"""<main id="live"><noscript>{needs_script}</noscript>
<p class="tagline">{say["tagline"]}</p>
<textarea id="text" rows="1" maxlength="{MAX_CHARS}" aria-label="{say["text"]}" dir="auto"
 spellcheck="false" autocomplete="off" autocapitalize="off">{typed}</textarea>
<div id="pad" hidden></div>
<p id="continuation" dir="auto"></p>
<div class="told"><p id="answer"></p>
<div id="writer" hidden><button type="button" id="write">{say["write"]}</button>
<button type="button" id="clear" hidden>{say["clear"]}</button>
<details><summary>{say["settings"]}</summary>
{"".join(_number(name, say[name], *limits) for name, limits in SAMPLING.items())}</details></div>
<p class="state"><span id="status">{say["loading"]}</span> <span id="badge"></span>
<button type="button" id="exact" hidden>{say["exact"]}</button>
<button type="button" id="retry" hidden>{say["retry"]}</button></p></div>
<p id="problem" role="alert" hidden></p>
<div class="bar"><div class="tabs" id="tabs" role="tablist" aria-label="{views}"></div>
<select id="group" aria-label="{groups}" hidden></select></div>
<div id="off" hidden><label><span>{off}</span> <select id="to"></select></label>
<button type="button" id="effects">{measure}</button></div>
<div id="view" role="tabpanel"></div>
<p id="said" class="unseen" role="status"></p></main>"""


def _number(name: str, said: str, most: float, step: float, first: float) -> str:
    """A field for a number."""
    return (
        f'<label>{said} <input id="{name}" type="number" min="0" max="{most}" step="{step}"'
        f' value="{first}"></label> '
    )


def _nav(links: Sequence[PageLink]) -> str:
    """Links in a row; nothing without any."""
    anchors = (
        f"<a{'' if link.lang is None else f' lang={tag(link.lang)} hreflang={tag(link.lang)}'}"
        f' href="{html.escape(link.address)}">{html.escape(link.label)}</a>'
        for link in links
    )
    return f"<nav>{' '.join(anchors)}</nav>" if links else ""
