"""Pages of the demo site around pictures of the app: films of the lessons, maps, circuits.

In: models with a capture, a language. Out: pages that open from a disk, whose policy allows their
own script and style alone. Numbers are computed once for all languages; what a visitor may choose
in a circuit, the cut of each of the strongest paths, comes with the page.
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import attnviz
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.page_parts.learn.pictures import motion_view
from attnviz.capture.changed.layout import layout_of
from attnviz.capture.changed.references import reference_of
from attnviz.corpus.embed import Embedding, embed_captures
from attnviz.corpus.samples import map_texts, sample_pictures
from attnviz.errors import UnsupportedAttention
from attnviz.experiment import Experiment, Paths
from attnviz.i18n import Language, tag, text
from attnviz.pictures import circuit, motion
from attnviz.pictures import map as joint_map
from attnviz.pictures.circuit import CircuitView
from attnviz.pictures.circuit import fill as circuits
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.map import MapView
from attnviz.pictures.map.fill import TextOnMap, map_view, texts_on_map
from attnviz.pictures.motion import Motion
from attnviz.pictures.shared.canvas import Canvas, packed
from attnviz.pictures.shared.html_parts import (
    block,
    boot_script,
    page_style,
    safe_json,
    script_with,
    source_hash,
)
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card
from attnviz.teach.lessons.cards.texts import lesson_texts

HOST = Path(__file__).with_suffix(".js")
N_CUTS = 12  # paths whose cut comes with a circuit: those that its list has
BATCH = 16
STYLE = """
main { margin-top: 16px; }
section + section { margin-top: 28px; }
section h2 { font-size: 1.05rem; margin: 0 0 6px; }
nav a { color: var(--st-link-color); }
"""


@dataclass(frozen=True, eq=False)
class Pictured:
    """A picture under a heading; `answers` are its views after a choice, by that choice.

    `heads` is the page that its links to heads lead to.
    """

    title: str
    canvas: Canvas[Any]
    view: object
    answers: Mapping[str, object] = field(default_factory=dict)
    heads: str = ""


Pictures = Callable[[Language], Sequence[Pictured]]


def page(lang: Language, title: str, intro: str, pictures: Sequence[Pictured]) -> str:
    """The whole document."""
    index, parts = [], {}
    for number, shown in enumerate(pictures):
        views = {"": shown.view, **shown.answers}
        names = {choice: f"{number}:{at}" for at, choice in enumerate(views)}
        parts |= {names[choice]: packed(shown.canvas, view, lang) for choice, view in views.items()}
        answers = {choice: names[choice] for choice in shown.answers}
        index.append(
            {
                "title": shown.title,
                "canvas": shown.canvas.name,
                "part": names[""],
                "answers": answers,
                "heads": shown.heads,
            }
        )
    script = _script(tuple(sorted({shown.canvas.name for shown in pictures})))
    boot, style = boot_script(), page_style() + STYLE
    policy = (
        f"default-src 'none'; script-src {source_hash(boot)} {source_hash(script)};"
        f" style-src {source_hash(style)}; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    theme, old, needs = (
        html.escape(text(lang, f"file.{name}")) for name in ("theme", "old_browser", "needs_script")
    )
    lines = (
        "<!doctype html>",
        f'<html lang="{tag(lang)}"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="attnviz">',
        f"<title>{html.escape(title)}</title><style>{style}</style></head>",
        f"<body><header><h1><bdi>{html.escape(title)}</bdi></h1>",
        f'<button type="button" id="theme" hidden>{theme}</button></header>',
        f'<nav><a href="index.html">{html.escape(text(lang, "app.name"))}</a></nav>',
        f"<p>{html.escape(intro.replace('**', ''))}</p>",
        f'<main id="view"><noscript>{needs}</noscript></main>',
        f'<p id="problem" role="alert" hidden>{old}</p>',
        f'<script type="application/json" id="index">{safe_json(index)}</script>',
        *(block(name, data) for name, data in {"script": script.encode(), **parts}.items()),
        f"<script>{boot}</script></body></html>\n",
    )
    return "\n".join(lines)


@cache
def _script(canvases: tuple[str, ...]) -> str:
    return script_with(canvases, HOST)


def films(lang: Language) -> str:
    """The page of all films of the lessons, in the order in which they are taught."""
    pictures = [
        Pictured(f"{texts.title} · {shown.say('title', markup=False)}", motion.CANVAS, view)
        for slug, card, film in every_film()
        for texts in [lesson_texts(slug, lang)]
        for shown in [CardShown(lang, texts, card, {})]
        for view in [motion_view(shown, film)]
    ]
    return page(lang, text(lang, "file.films"), text(lang, "file.films_intro"), pictures)


_loaded = cache(attnviz.load)


def _captured(model: str, *given: Any, **options: Any) -> attnviz.Capture:
    """A capture of a registered model, which is loaded once."""
    return attnviz.capture(_loaded(model), *given, **options)


@cache
def every_film() -> tuple[tuple[str, Card, Motion], ...]:
    """Each film once: the lesson, the card, and its longest form there."""
    found = []
    for slug in SLUGS:
        for recipe in lesson(slug).recipes:
            card = recipe.build(CardInputs(recipe.start_values(), 0, _captured))
            every = [each for each in (*card.pictures, *card.reveal) if isinstance(each, Motion)]
            if every:
                found.append((slug, card, max(every, key=lambda film: len(film.played))))
    return tuple(found)


# --- a model's map --------------------------------------------------------------------------------


def map_page(lm: attnviz.LoadedModel) -> Callable[[Language], str] | None:
    """A function that writes the map of a model's own texts or pictures; None where it has none."""
    texts, pictures = map_texts(lm), sample_pictures(lm)
    if not (texts or pictures):
        return None
    try:
        embedding, placed = _placed(lm, texts, pictures)
    except UnsupportedAttention:
        return None
    view: MapView = map_view(embedding, placed, None, openable=False)

    def written(lang: Language) -> str:
        title = f"{text(lang, 'page.map.title')} · {model_title(lang, lm.name)}"
        return page(
            lang, title, text(lang, "file.map_intro"), [Pictured("", joint_map.CANVAS, view)]
        )

    return written


def _placed(
    lm: attnviz.LoadedModel, texts: Sequence[str], pictures: Sequence[Any]
) -> tuple[Embedding, tuple[TextOnMap, ...]]:
    """The planes of all heads, and the texts on them."""
    captures = []
    for start in range(0, len(texts or pictures), BATCH):
        part = slice(start, start + BATCH)
        given: dict[str, Any] = (
            {"text": list(texts[part]), "cut": True} if texts else {"image": list(pictures[part])}
        )
        captures.append(attnviz.capture(lm, **given))
    embedding, rest = embed_captures(captures), iter(pictures)
    return embedding, tuple(
        place
        for cap in captures
        for place in texts_on_map(
            embedding, cap, None if texts else tuple(islice(rest, cap.n_batch))
        )
    )


# --- a model's circuit ----------------------------------------------------------------------------


def circuit_page(run: Experiment, capture: attnviz.Capture) -> Callable[[Language], str] | None:
    """A function that writes the circuit of one text; None where no head moves a later one."""
    paths = run.paths()
    strongest = circuits.told_from_chance(paths, N_CUTS)
    if not strongest:
        return None
    cuts = [run.cut(path.sender, path.receiver, path.side) for path in strongest]
    composed, captured = _composed(run, paths), AppCapture.alone(capture, run.prepared.lm)
    reference = reference_of(run.prepared.lm)

    def pictured(lang: Language) -> Iterator[Pictured]:
        view = partial(
            CircuitView,
            columns=circuits.columns(layout_of(run.prepared.calls)),
            moved=paths.moved.astype("float32"),
            by_chance=paths.by_chance.astype("float32"),
            chance_reach=circuits.chance_reach(paths),
            composed=composed,
            summary=circuits.summary(lang, paths),
            notes=circuits.notes(lang, paths, reference),
        )
        answers = {}
        for cut in cuts:
            group = next(
                group
                for group in captured.groups
                if (group.kind, group.stack) == (cut.receiver.kind, cut.receiver.stack)
            )
            shown = PageContext(lang, captured, group)
            queries, keys = token_axes(shown, layer=cut.receiver.layer)
            labels = queries.labels, keys.labels
            arrow = f"{cut.sender}-{cut.receiver}.{cut.side}"
            detail = circuits.detail(lang, run.prepared, run.reader, cut, labels, reference)
            answers[arrow] = view(chosen=arrow, detail=detail)
        one_attention = len(captured.groups) == 1
        heads = f"{run.prepared.lm.name}.html" if one_attention else ""
        yield Pictured("", circuit.CANVAS, view(), answers, heads)

    def written(lang: Language) -> str:
        title = f"{text(lang, 'page.circuit.title')} · {model_title(lang, run.prepared.lm.name)}"
        cuts_there = text(lang, "file.cuts_there", n=len(cuts))
        intro = f"{text(lang, 'page.circuit.intro')} {cuts_there}"
        return page(lang, title, intro, [*pictured(lang)])

    return written


def _composed(run: Experiment, paths: Paths) -> Any:
    try:
        return circuits.composed(attnviz.circuits(run.prepared.lm), paths.senders)
    except UnsupportedAttention:
        return None
