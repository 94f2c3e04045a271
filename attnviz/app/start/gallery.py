"""The gallery of the start page: four miniatures, each computed when it comes into sight.

In: a language. Out: the mounted gallery; a click on a miniature opens its page. One miniature is
computed in each run of the fragment, so that each is drawn as soon as its numbers are there; the
last, a training, is drawn while it goes on.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.server import captures, sources
from attnviz.app.session import (
    address,
    address_bar,
    current,
    examples,
    messages,
    openings,
    pictures,
    routes,
    store,
    widgets,
)
from attnviz.app.session.fragment import fragment
from attnviz.app.start import birth
from attnviz.capture.request import Request
from attnviz.i18n import Language
from attnviz.pictures import gallery as component
from attnviz.pictures.gallery import (
    MINIATURES,
    Birth,
    GalleryView,
    Lines,
    Miniature,
    PictureRead,
    Story,
)
from attnviz.pictures.gallery import fill as views
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.shared.pages import Page

N_LOOKED_AT = "gallery"  # how many miniatures this visitor's page has asked for
N_TOKENS = 16  # of the story; the last one that is generated is never read
PAGES: dict[Miniature, Page] = {
    "translator": "output",
    "picture": "output",
    "story": "output",
    "birth": "learn",
}


@fragment()
def show(lang: Language) -> None:
    """The miniatures that were asked for, and empty frames for the others."""
    with messages.guard(lang):
        n_asked = int(store.get(N_LOOKED_AT) or 0)
        newborn = birth.newborn() if n_asked == len(MINIATURES) else None
        n_steps = 0 if newborn is None else len(newborn.steps)
        key = widgets.component_key("gallery")
        with st.container(key=widgets.key("gallery")):
            draw(
                component.CANVAS,
                lambda: _view(n_asked, newborn),
                key,
                lang,
                {"look": _look, "miniature": lambda: _open(key)},
                kept=f"{n_asked} {n_steps} {newborn is not None and newborn.is_over}",
            )


def _view(n_asked: int, newborn: Birth | None) -> GalleryView:
    return GalleryView(
        translator=_translator() if n_asked > 0 else None,
        picture=_picture() if n_asked > 1 else None,
        story=_story() if n_asked > 2 else None,
        birth=newborn,
    )


def _look() -> None:
    store.put(N_LOOKED_AT, min(len(MINIATURES), int(store.get(N_LOOKED_AT) or 0) + 1))


def _translator() -> Lines:
    source, sentence = sources.source("translator"), examples.texts("translator")[0]
    target = captures.answer(source, sentence, False)
    captured = captures.recall(source, Request.of((sentence,), target=[target]))
    return views.lines(captured, target, openings.OPENINGS["translator"].head)


def _picture() -> PictureRead:
    opening = openings.OPENINGS["shapes"]
    image = pictures.made(pictures.default("shapes"))
    return views.picture(_captured("shapes", Request.of(image=image)), opening.head, opening.query)


def _story() -> Story:
    return views.story(_captured("stories", Request.of((_beginning(),), generate=N_TOKENS + 1)))


def _beginning() -> str:
    return next(example.text for example in examples.STORIES if example.name == "once")


def _captured(model: str, request: Request) -> AppCapture:
    return captures.recall(sources.source(model), request)


def _open(key: str) -> None:
    """Open the page of a miniature that was clicked, on what it shows."""
    name = component.parse_opened(widgets.component_value(key, "miniature"))
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
