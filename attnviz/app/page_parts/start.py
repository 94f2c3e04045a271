"""The start page: a stage that one plays on, a film behind it, a gallery of live miniatures.

In: a language; stage, film and miniatures are of the embedded models, whatever the view shows. Out:
the page. The stage has a sentence with all that forbidding one look does, so a click needs no
server; a visitor's own sentence comes onto the same stage. The film is the opening of MiniLM and
its contrast; a sentence that is typed below it is opened on Overview, with the head, query and key
worth seeing. One miniature is computed in each run of its fragment, so that each is drawn as soon
as its numbers are there; the last, the training of the lesson's first seed, is drawn while it goes
on.
"""

from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs, captures, sources, trainings
from attnviz.app.session import (
    address,
    address_bar,
    current,
    messages,
    pictures,
    routes,
    store,
    widgets,
)
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import DEFAULT_MODEL
from attnviz.capture.request import Request
from attnviz.checks import examples
from attnviz.checks.openings import OPENINGS, sight
from attnviz.i18n import Language
from attnviz.pictures import film as film_picture
from attnviz.pictures import gallery as gallery_picture
from attnviz.pictures import stage as stage_picture
from attnviz.pictures.film import FilmView
from attnviz.pictures.film import fill as film_fill
from attnviz.pictures.gallery import (
    MINIATURES,
    Birth,
    GalleryView,
    Lines,
    Miniature,
    PictureRead,
    Story,
)
from attnviz.pictures.gallery import fill as gallery_fill
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.shared.pages import Page
from attnviz.pictures.stage import Scene, StageView
from attnviz.pictures.stage import fill as stage_fill
from attnviz.pictures.stage.scenes import STAGED

STAGE = "stage"  # the scene and the text that this visitor's stage shows
FILM = "film"  # True once this visitor has asked for it
N_LOOKED_AT = "gallery"  # how many miniatures this visitor's page has asked for
N_TOKENS = 16  # of the story; the last one that is generated is never read
PAGES: dict[Miniature, Page] = {
    "translator": "output",
    "picture": "output",
    "story": "output",
    "birth": "learn",
}
SEED = 0
MAX_OWN_CHARS = 400  # what the box takes
OPENING: tuple[Scene, str] = ("book", STAGED["book"].text)
N_STEPS = 200  # a quarter of the lesson's training: the head copies from the hundredth step on


@fragment()
def show_stage(lang: Language) -> None:
    """The stage, and in its place the film once it is asked for."""
    with messages.guard(lang):
        scene, sentence = store.get(STAGE) or OPENING
        key = widgets.component_key("stage")
        draw(
            stage_picture.CANVAS,
            lambda: stage_view(scene, sentence),
            key,
            lang,
            {
                "text": lambda: _stage_own(key),
                "scene": lambda: _stage_scene(key),
                "film": lambda: store.put(FILM, True),
            },
            kept=f"{scene} {sentence}",
        )
        if store.get(FILM):
            show_film(lang)


def stage_view(scene: Scene, sentence: str) -> StageView:
    """A sentence with the answer without each look of its last word, or of the scene's own."""
    staged = STAGED.get(scene)
    source = sources.source("stories" if staged is None else staged.model)
    request = Request.of((sentence,))
    captured = captures.recall(source, request)
    others = () if staged is None else tuple(text for _, text in staged.yardsticks)
    run = answer_runs.answers(captured, request, others).run
    examples = tuple((name, one.text) for name, one in STAGED.items() if name != scene)
    if staged is None:
        return stage_fill.next_word(captured, run, scene, examples)
    if not staged.yardsticks:
        return stage_fill.next_word(captured, run, scene, examples, staged.key, staged.tried)
    names = [name for name, _ in staged.yardsticks]
    return stage_fill.meaning(captured, run, scene, (staged.query, staged.key), names, examples)


def _stage_own(key: str) -> None:
    sentence = address.cleaned("text", widgets.component_value(key, "text")).strip()
    if sentence:
        store.put(STAGE, ("own", sentence[:MAX_OWN_CHARS]))


def _stage_scene(key: str) -> None:
    scene = stage_picture.parse_scene(widgets.component_value(key, "scene"))
    if scene is not None:
        store.put(STAGE, (scene, STAGED[scene].text))


def show_film(lang: Language) -> None:
    """The film, and below it the box for another sentence."""
    with messages.guard(lang):
        texts = offered()
        key = widgets.component_key("film")
        draw(
            film_picture.CANVAS,
            lambda: replace(film_view(), texts=tuple(texts)),
            key,
            lang,
            {"text": lambda: _take_text(key)},
            kept=str(texts),
        )


def film_view() -> FilmView:
    """The film of the opening: its numbers are those of two captures."""
    opening = OPENINGS[DEFAULT_MODEL]
    first = examples.texts(DEFAULT_MODEL)[0]
    second = examples.contrast(DEFAULT_MODEL, first)
    groups = [
        _recalled(DEFAULT_MODEL, Request.of((sentence,))).groups[0] for sentence in (first, second)
    ]
    return film_fill.film(groups[0], groups[1], opening.head, opening.query, opening.key)


def offered() -> tuple[str, ...]:
    """Examples in the model's language, other than the sentence of the film."""
    texts = examples.texts(DEFAULT_MODEL)[1:]
    return tuple(text for text in texts if not examples.foreign_letters(DEFAULT_MODEL, text))


def _take_text(key: str) -> None:
    """Open a visitor's sentence on Overview, at the head of the film or of the example."""
    sentence = address.cleaned("text", widgets.component_value(key, "text")).strip()
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
    st.switch_page(routes.file("overview"), query_params=address.params(current.view()))


@fragment()
def show_gallery(lang: Language) -> None:
    """The miniatures that were asked for, and empty frames for the others."""
    with messages.guard(lang):
        n_asked = int(store.get(N_LOOKED_AT) or 0)
        born = newborn() if n_asked == len(MINIATURES) else None
        n_steps = 0 if born is None else len(born.steps)
        key = widgets.component_key("gallery")
        with st.container(key=widgets.key("gallery")):
            draw(
                gallery_picture.CANVAS,
                lambda: _gallery_view(n_asked, born),
                key,
                lang,
                {"look": _look, "miniature": lambda: _open(key)},
                kept=f"{n_asked} {n_steps} {born is not None and born.is_over}",
            )


def _gallery_view(n_asked: int, born: Birth | None) -> GalleryView:
    return GalleryView(
        translator=_translator() if n_asked > 0 else None,
        picture=_picture() if n_asked > 1 else None,
        story=_story() if n_asked > 2 else None,
        birth=born,
    )


def _look() -> None:
    store.put(N_LOOKED_AT, min(len(MINIATURES), int(store.get(N_LOOKED_AT) or 0) + 1))


def _translator() -> Lines:
    source, sentence = sources.source("translator"), examples.texts("translator")[0]
    target = captures.answer(source, sentence, False)
    captured = captures.recall(source, Request.of((sentence,), target=[target]))
    return gallery_fill.lines(captured, target, OPENINGS["translator"].head)


def _picture() -> PictureRead:
    opening = OPENINGS["shapes"]
    image = pictures.made(pictures.default("shapes"))
    return gallery_fill.picture(
        _recalled("shapes", Request.of(image=image)), opening.head, opening.query
    )


def _story() -> Story:
    return gallery_fill.story(
        _recalled("stories", Request.of((_beginning(),), generate=N_TOKENS + 1))
    )


def _beginning() -> str:
    return next(example.text for example in examples.STORIES if example.name == "once")


def _recalled(model: str, request: Request) -> AppCapture:
    return captures.recall(sources.source(model), request)


def _open(key: str) -> None:
    """Open the page of a miniature that was clicked, on what it shows."""
    name = gallery_picture.parse_opened(widgets.component_value(key, "miniature"))
    if name is None:
        return
    if name == "birth":
        view = current.view()
        current.update(replace(view, learn=replace(view.learn, lesson="birth", card="live")))
    else:
        current.open_model({"picture": "shapes", "story": "stories"}.get(name, name))
    if name == "translator":
        current.open_text(examples.texts("translator")[0])
    elif name == "story":
        current.open_text(_beginning())
        current.generate(N_TOKENS)
    address_bar.mount_anew()
    st.switch_page(routes.file(PAGES[name]), query_params=address.params(current.view()))


def newborn() -> Birth | None:
    """The training so far: the attention of the head that copies best at its latest step."""
    training = trainings.training(SEED, n_steps=N_STEPS)
    training.job.raise_error()
    is_over, snapshots = training.job.over, tuple(training.snapshots)
    if not snapshots:
        return None
    from attnviz.teach.course import toy_model

    tokens = toy_model.encode(toy_model.example())
    head = snapshots[-1].repeated.induction_head
    weights = [
        toy_model.attention(toy_model.restore(snapshot), tokens)[head.layer, head.head]
        for snapshot in snapshots
    ]
    scores = [snapshot.repeated.induction[head.layer, head.head] for snapshot in snapshots]
    return Birth(
        str(head),
        toy_model.labels(tokens),
        tuple(snapshot.step for snapshot in snapshots),
        np.array(scores, dtype=np.float32),
        np.stack(weights),
        toy_model.chance(len(tokens)).induction,
        training.n_steps,
        is_over,
    )
