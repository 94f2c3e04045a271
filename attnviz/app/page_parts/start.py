"""The start page: a stage that one plays on, a film in its place, a gallery of miniatures.

In: a language; stage, film and miniatures are of the embedded models, whatever the view shows. Out:
the page. The stage has a sentence with all that forbidding one look does, so a click needs no
server, and a server that has just begun shows the stored one; a visitor's own sentence comes onto
the same stage, and into the address. The film is the opening of MiniLM and its contrast; a sentence
that is typed below it is opened on Overview, with the head, query and key worth seeing. The
miniatures come with the package.
"""

import logging
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import notices
from attnviz.app.frame.choices import renew_links
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs, captures, sources
from attnviz.app.server.edge import warm
from attnviz.app.session import (
    address,
    address_bar,
    current,
    messages,
    openings,
    store,
    widgets,
)
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import DEFAULT_MODEL
from attnviz.capture.request import Request
from attnviz.checks import examples
from attnviz.checks.examples import OPENINGS, sight
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.pictures import film, gallery
from attnviz.pictures import stage as stage_picture
from attnviz.pictures.film import FilmView
from attnviz.pictures.gallery import Miniature
from attnviz.pictures.shared import stored as stored_views
from attnviz.pictures.shared.pages import Door
from attnviz.pictures.shared.selection import Extent, parse_open, parse_question
from attnviz.pictures.stage import STAGED, Scene, StageView, stored_opening
from attnviz.pictures.stage import fill as stage_fill

if TYPE_CHECKING:
    from attnviz.experiment.run import Experiment

Look = tuple[str, int, int]  # head, query, key
FILM = "film"  # True once this visitor has asked for it
N_TOKENS = 16  # of the story; the last one that is generated is never read
DOORS: dict[Miniature, Door] = {
    "translator": "output",
    "picture": "output",
    "story": "output",
    "birth": "learn",
}
ANY = Extent(*4 * (100_000,))  # what the rooms do not find in the text they leave out
WITHIN = 1e-3  # between the stored opening and what another machine computes

logger = logging.getLogger(__name__)


@fragment(openings.STAGE)
def show_stage(lang: Language) -> None:
    """The stage, or the film in its place once it is asked for."""
    if store.get(FILM):
        st.button(
            text(lang, "page.start.back"),
            key=widgets.key("stage.back"),
            icon=":material/arrow_back:",
            on_click=lambda: store.pop(FILM),
        )
        show_film(lang)
        return
    with messages.guard(lang):
        (scene, sentence), asked = openings.staged(), openings.asked_look()
        if scene == "own":
            notices.never_learned(lang, "stories", sentence)
        draw(
            stage_picture.CANVAS,
            lambda: stage_view(scene, sentence, asked),
            "stage",
            lang,
            {
                "text": _stage_own,
                "scene": _stage_scene,
                "film": lambda _sent: store.put(FILM, True),
                "ask": _stage_forbid,
                "open": _open_room,
            },
            kept=f"{scene} {sentence} {asked}",
        )


def prepare() -> None:
    """Compute the opening of a server that begins, and compare it with the one that is stored."""
    if not stored_views.is_same(computed_stage(*openings.OPENING), stored_opening(), WITHIN):
        logger.warning("the stored opening of the stage is not what this server computes")


def stage_view(scene: Scene, sentence: str, asked: Look | None = None) -> StageView:
    """The stage of a sentence; the opening as it is stored while the server begins."""
    if (scene, sentence) == openings.OPENING and asked is None and warm.is_under_way():
        return stored_opening()
    return computed_stage(scene, sentence, asked)


def computed_stage(scene: Scene, sentence: str, asked: Look | None = None) -> StageView:
    """A sentence with the answer without each look at a word: the one that is asked for.

    Without one, or where the stage cannot be about that, the word of the scene, or the one that
    `stage.fill` chooses.
    """
    view, run = _stage_and_run(scene, sentence, None if asked is None else asked[1:])
    if asked is None or asked[1:] == (view.looks.query, view.looks.key):
        return view
    with suppress(AttnVizError):  # the text has no such look
        return replace(view, elsewhere_moved=float(run.cuts([asked]).moved[0]))
    return view


def _stage_and_run(
    scene: Scene, sentence: str, cell: tuple[int, int] | None
) -> "tuple[StageView, Experiment]":
    staged = STAGED.get(scene)
    source = sources.source("stories" if staged is None else staged.model)
    request = Request.of((sentence,))
    captured = captures.recall(source, request)
    others = () if staged is None else tuple(text for _, text in staged.yardsticks)
    run = answer_runs.answers(captured, request, others).run
    examples = tuple((name, one.text) for name, one in STAGED.items() if name != scene)
    if staged is None:
        return stage_fill.next_word(captured, run, scene, examples, asked=cell), run
    if not staged.yardsticks:
        key, tried = staged.key, staged.tried
        return stage_fill.next_word(captured, run, scene, examples, key, tried, cell), run
    names, own = [name for name, _ in staged.yardsticks], (staged.query, staged.key)
    return stage_fill.meaning(captured, run, scene, own, names, examples), run


def _stage_own(sent: object) -> None:
    sentence = address.cleaned("text", sent).strip()
    if sentence:
        openings.stage("own", sentence[: openings.MAX_OWN_CHARS])
        renew_links(openings.STAGE)  # what the stage shows now


def _stage_scene(sent: object) -> None:
    scene = stage_picture.parse_scene(sent)
    if scene is not None:
        openings.stage(scene, STAGED[scene].text)
        renew_links(openings.STAGE)  # what the stage shows now


def _stage_forbid(sent: object) -> None:
    look = parse_question(sent, ANY)
    if look is not None:
        openings.forbid_on_stage(look)
        renew_links()  # the stage itself has moved already


def _open_room(sent: object) -> None:
    """Go where a look is shown that is forbidden and not on the stage."""
    there = parse_open(sent, ANY)
    if there is not None:
        current.update(openings.of_the_stage(current.view()))
        current.take_opened(there)
        current.go(there.page)


def show_film(lang: Language) -> None:
    """The film, and below it the box for another sentence."""
    with messages.guard(lang):
        texts = offered()
        draw(
            film.CANVAS,
            lambda: replace(film_view(), texts=tuple(texts)),
            "film",
            lang,
            {"text": _take_text},
            kept=str(texts),
        )


def film_view() -> FilmView:
    """The film of the opening: its numbers are those of two captures."""
    opening = OPENINGS[DEFAULT_MODEL]
    first = examples.texts(DEFAULT_MODEL)[0]
    second = examples.contrast(DEFAULT_MODEL, first)
    groups = [
        captures.recall(sources.source(DEFAULT_MODEL), Request.of((sentence,))).groups[0]
        for sentence in (first, second)
    ]
    return film.film(groups[0], groups[1], opening.head, opening.query, opening.key)


def offered() -> tuple[str, ...]:
    """Examples in the model's language, other than the sentence of the film."""
    texts = examples.texts(DEFAULT_MODEL)[1:]
    return tuple(text for text in texts if not examples.foreign_letters(DEFAULT_MODEL, text))


def _take_text(sent: object) -> None:
    """Open a visitor's sentence on Overview, at the head of the film or of the example."""
    sentence = address.cleaned("text", sent).strip()
    if not sentence:
        return
    current.open_model(DEFAULT_MODEL)
    current.open_text(sentence)
    seen, view = sight(DEFAULT_MODEL, sentence), current.view()
    head = OPENINGS[DEFAULT_MODEL].head if seen is None else seen.head
    place = replace(view.place, layer=head.layer, head=head.head)
    if seen is not None:
        place = replace(place, query=seen.query, key=seen.key)
    current.update(replace(view, place=place))
    address_bar.mount_anew()
    current.go("overview")


@fragment()
def show_gallery(lang: Language) -> None:
    """The miniatures."""
    with messages.guard(lang):
        draw(gallery.CANVAS, gallery.gallery, "gallery", lang, {"miniature": _open}, kept="stored")


def beginning() -> str:
    """The text that the story of the gallery goes on with."""
    return next(example.text for example in examples.STORIES if example.name == "once")


def _open(sent: object) -> None:
    """Open the page of a miniature that was clicked, on what it shows."""
    name = gallery.parse_opened(sent)
    if name is None:
        return
    if name == "birth":
        current.take({"lesson": "birth", "card": "live"})
    else:
        current.open_model({"picture": "shapes", "story": "stories"}.get(name, name))
    if name == "translator":
        current.open_text(examples.texts("translator")[0])
    elif name == "story":
        current.open_text(beginning())
        current.generate(N_TOKENS)
    address_bar.mount_anew()
    current.go(DOORS[name])
