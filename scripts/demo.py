"""Writes the demo site: `make demo`, or `python -m scripts.demo FOLDER`.

In: a folder, and the names of embedded models (all of them by default). Out: the live page, on
which these models run in the reader's browser. Below it, in `pages`, a page for each model on its
first example, with the steps of its opening and of the heads that its card names, its circuit, its
map, the atlas of the survey that comes with it, the films of the lessons, and an index that links
to all of these; the same in a folder for each other language. Any web space can serve the folder;
the pages with fixed texts open from a disk, too: they ask for nothing but themselves.
"""

import argparse
import base64
import html
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

import attnviz
from attnviz.app.session import model_images
from attnviz.capture.plan.images import seen_picture
from attnviz.checks import card, examples
from attnviz.checks.examples import OPENINGS
from attnviz.cli.live import embedded
from attnviz.corpus.embedded import embedded_survey
from attnviz.corpus.result import Survey
from attnviz.experiment.outputs.answer import answer
from attnviz.i18n import DEFAULT, LANGUAGES, Language, text
from attnviz.live.model import live_model
from attnviz.live.site import write_site
from attnviz.models.registry import REGISTRY
from attnviz.notebook.frame import still
from attnviz.pictures.group.groups import Group, groups
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.html_parts import page_style, source_hash
from attnviz.types import HeadId, Site
from scripts.demo_pictures import circuit_page, films, map_page

FILMS = "films.html"
FIXED = "pages"  # the folder of the pages with fixed texts
STYLE = """
main.models {
  display: grid; gap: 20px;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr));
}
main.models article {
  border: 1px solid var(--st-border-color); border-radius: 6px; padding: 14px 18px 18px;
}
main.models h2 { font-size: 1.15rem; margin: 0 0 8px; }
main.models img {
  width: 100%; height: 150px; object-fit: cover; object-position: top left;
  image-rendering: pixelated; border-radius: 4px; background: #fff;
}
main.models li { margin: 4px 0; }
nav { margin: 4px 0 18px; }
nav a { margin-right: 12px; }
a { color: var(--st-link-color); }
"""


@dataclass(frozen=True)
class Place:
    """A head of a group of attentions with what it does, and the cell that shows it."""

    group: int
    head: HeadId
    does: str
    query: int | None = None
    key: int | None = None

    def address(self, model: str) -> str:
        """The link to this head in the model's page."""
        cell = {} if self.query is None else {"query": self.query, "key": self.key}
        group = {"group": self.group} if self.group else {}
        place = {"view": "head", "layer": self.head.layer, "head": self.head.head}
        return f"{model}.html?{urlencode({**place, **group, **cell})}"


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A model with the capture of its first example, and the picture that it saw."""

    name: str
    lm: attnviz.LoadedModel
    capture: attnviz.Capture
    picture: np.ndarray | None
    survey: Survey | None = None
    pictured: Mapping[str, Callable[[Language], str]] = field(default_factory=dict)

    def page(self, kind: str) -> str:
        """The file of its "atlas", "map" or "circuit"."""
        return f"{self.name}-{kind}.html"

    def places(self, lang: Language) -> list[Place]:
        """Its opening, and the heads that its card names."""
        among = groups(self.capture)
        places = []
        opening = OPENINGS.get(self.name)
        if opening is not None:
            sentence = text(
                lang,
                "card.opening",
                head=str(opening.head),
                asks=opening.query_token,
                answers=opening.key_token,
                weight=f"{opening.weight:.2f}",
                others=f"{opening.others:.2f}",
            )
            group = _group(among, opening.kind, opening.stack)
            does = sentence.replace("**", "")
            places.append(Place(group, opening.head, does, opening.query, opening.key))
        model_card = card(self.name)
        for note in () if model_card is None else model_card.description.heads:
            site = Site.parse(note.head)
            if site is None or site.head is None:
                continue
            chance = {} if note.chance is None else {"chance": f"{note.chance:.2f}"}
            key = "card.score_chance" if chance else "card.score"
            score = text(lang, key, score=f"{note.score:.2f}", **chance)
            group = _group(among, note.kind if note.stack else None, note.stack)
            does = f"{note.does} · {score}"
            places.append(Place(group, HeadId(site.layer, site.head), does))
        return places


def exhibit(name: str) -> Exhibit:
    """A model and the capture of the example that the app opens it with."""
    lm = attnviz.load(name)
    first = next(iter(examples.texts(name)), "")
    if lm.kind == "module":
        return Exhibit(name, lm, attnviz.capture(lm), None)
    if lm.kind == "vision":
        image = model_images.made(model_images.default(name))
        capture = attnviz.capture(lm, image=image)
        pictured = _pictured(lm, capture, image=image)
        return Exhibit(name, lm, capture, seen_picture(lm, image), None, pictured)
    target = answer(lm, first) if lm.kind == "encoder-decoder" else None
    capture = attnviz.capture(lm, first, target=target)
    pictured = _pictured(lm, capture, text=first, target=target)
    return Exhibit(name, lm, capture, None, embedded_survey(lm), pictured)


def _pictured(
    lm: attnviz.LoadedModel, capture: attnviz.Capture, **given: Any
) -> dict[str, Callable[[Language], str]]:
    """Functions that write the circuit of a capture and the map of its model, if there are any."""
    run = attnviz.experiment(lm, **given)
    pages = {"circuit": circuit_page(run, capture), "map": map_page(lm)}
    return {kind: written for kind, written in pages.items() if written is not None}


def write_live(folder: Path, names: Sequence[str], languages: Sequence[Language]) -> None:
    """Write the live page of those of these models that read a text or a picture."""
    runnable = [name for name in embedded() if name in names]
    models = [live_model(name, languages=languages) for name in runnable]
    write_site(folder, models, languages, FIXED)


def write_pages(folder: Path, names: Sequence[str], languages: Sequence[Language]) -> None:
    """Write the pages of these models and their indices; English stands in the folder itself."""
    exhibits = [exhibit(name) for name in names]
    for lang in languages:
        place = folder if lang == DEFAULT else folder / lang
        place.mkdir(parents=True, exist_ok=True)
        for shown in exhibits:
            heads = dict.fromkeys(str(place.head) for place in shown.places(lang))
            attnviz.save(
                shown.capture,
                place / f"{shown.name}.html",
                lang=lang,
                heads=list(heads) or None,
                model=shown.lm,
                picture=shown.picture,
            )
            if shown.survey is not None:
                attnviz.save(shown.survey, place / shown.page("atlas"), lang=lang)
            for kind, written in shown.pictured.items():
                (place / shown.page(kind)).write_text(written(lang), encoding="utf-8")
        (place / FILMS).write_text(films(lang), encoding="utf-8")
        (place / "index.html").write_text(index(exhibits, lang, languages), encoding="utf-8")


def index(exhibits: Sequence[Exhibit], lang: Language, languages: Sequence[Language]) -> str:
    """The page that lists the models with links to their heads; it runs no script."""
    style = page_style() + STYLE
    policy = (
        f"default-src 'none'; style-src {source_hash(style)}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    title = html.escape(f"{text(lang, 'app.name')} · {text(lang, 'app.tagline')}")
    lines = [
        "<!doctype html>",
        f'<html lang="{lang}"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{style}</style></head><body>",
        f"<header><h1>{html.escape(text(lang, 'app.name'))}</h1></header>",
        f"<p>{html.escape(text(lang, 'app.tagline'))}</p>",
        f"<nav>{''.join(_languages(lang, languages))}</nav>",
        f'<p><a href="{FILMS}">{html.escape(text(lang, "file.films"))}</a></p>',
        '<main class="models">',
        *(_article(shown, lang) for shown in exhibits),
        "</main></body></html>",
    ]
    return "\n".join(lines) + "\n"


def _languages(lang: Language, languages: Sequence[Language]) -> Iterator[str]:
    """A link to the index in each other language."""
    up = "" if lang == DEFAULT else "../"
    for other in languages:
        if other != lang:
            folder = "" if other == DEFAULT else f"{other}/"
            name = html.escape(text(other, "language.name"))
            yield f'<a lang="{other}" href="{up}{folder}index.html">{name}</a>'


def _article(shown: Exhibit, lang: Language) -> str:
    """A model: all its heads as a still picture, what it is, and links to the heads."""
    places = shown.places(lang)
    first = groups(shown.capture)[places[0].group if places else 0]
    picture = base64.b64encode(still(first)).decode()
    title = html.escape(model_title(lang, shown.name))
    items = "".join(
        f'<li><a href="{html.escape(place.address(shown.name))}">{place.head}</a>'
        f" <bdi>{html.escape(place.does)}</bdi></li>"
        for place in places
    )
    more = [*shown.pictured, *(["atlas"] if shown.survey is not None else [])]
    items += "".join(
        f'<li><a href="{shown.page(kind)}">{html.escape(text(lang, f"page.{kind}.title"))}</a></li>'
        for kind in more
    )
    notes_in_english = lang != DEFAULT and len(places) > 1
    english = f"<p>{html.escape(text(lang, 'card.in_english'))}</p>" if notes_in_english else ""
    return (
        f'<article><h2><a href="{shown.name}.html">{title}</a></h2>'
        f'<a href="{shown.name}.html"><img alt="{title}" src="data:image/png;base64,{picture}"></a>'
        f"<p>{html.escape(text(lang, f'model.{shown.name}.description'))}</p>"
        f"{english}<ul>{items}</ul></article>"
    )


def _group(among: Sequence[Group], kind: str | None, stack: str | None) -> int:
    """The place of an attention among the groups of a capture; 0 where none is named."""
    fitting = (
        place
        for place, group in enumerate(among)
        if (kind is None or group.kind == kind) and (stack is None or group.stack == stack)
    )
    return next(fitting)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the site, and print where it is."""
    parser = argparse.ArgumentParser(
        prog="scripts.demo", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", default=list(REGISTRY), choices=list(REGISTRY))
    parser.add_argument("--languages", nargs="+", default=list(LANGUAGES), choices=LANGUAGES)
    options = parser.parse_args(arguments)
    write_pages(options.folder / FIXED, options.models, options.languages)
    write_live(options.folder, options.models, options.languages)
    pages = list(options.folder.rglob("*.html"))
    n_mb = sum(file.stat().st_size for file in options.folder.rglob("*") if file.is_file()) / 1e6
    print(f"{options.folder / 'index.html'}: {len(pages)} pages, {n_mb:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
