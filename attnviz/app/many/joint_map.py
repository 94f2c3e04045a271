"""The page Map: queries and keys of many texts in one plane, with the visitor's own text.

In: what is shown and the view. Out: a mounted component. The planes are fitted by a job that all
visitors of a model share; the visitor's text is then placed at once. For one head another job draws
the same tokens by t-SNE, if the visitor asks for it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.effects import measurement
from attnviz.app.frame import fragments, needs_model
from attnviz.app.host.draw import draw
from attnviz.app.many import heads, more_texts, tsne
from attnviz.app.server.jobs import Job
from attnviz.app.session import address, current, messages, routes, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import UnsupportedAttention
from attnviz.i18n import text
from attnviz.pictures import map as component
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.map import fill as joint_map
from attnviz.pictures.map.fill import TextOnMap
from attnviz.pictures.shared.numbers import MAX_INDEX
from attnviz.pictures.shared.selection import Extent, parse_open

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.corpus.embed import Embedding
    from attnviz.models.loaded_model import LoadedModel

FRAGMENT = "map"
MAX_OWN = 256  # tokens of the visitor's text, whose weights travel for all heads
BATCH = 16
Fitted = tuple["Embedding", tuple[TextOnMap, ...], tuple[str, ...]]


@fragment(FRAGMENT)
def show(shown: PageContext, sentences: tuple[str, ...] = ()) -> None:
    """The map of the model, with the text that is shown on it, and the sentences of a class."""
    lang = shown.lang
    with messages.guard(lang):
        if needs_model.say(shown, "map"):
            return
        loaded, capture = shown.captured.model, shown.captured.capture
        if not _can_be_drawn(loaded, capture):
            st.info(text(lang, "map.not_here"))
            return
        key = f"map {loaded.key}"
        fitted = measurement.result(lang, "map", key, partial(_fitted, loaded))
        if fitted is not None:
            _mount(shown, fitted, sentences)


def _can_be_drawn(loaded: "LoadedModel", capture: "Capture") -> bool:
    """True if the model's first attention has queries and keys of texts or pictures."""
    from attnviz.corpus.biplot import dot_product
    from attnviz.corpus.samples import sample_pictures, sample_texts

    if not (sample_texts(loaded) or sample_pictures(loaded)):
        return False
    try:
        for layer in range(capture.n_layers):
            dot_product(capture.call(layer))
    except UnsupportedAttention:
        return False
    return True


def _fitted(loaded: "LoadedModel", job: Job) -> Fitted:
    """The planes of the model's own texts, and these texts on them."""
    from attnviz.corpus.embed import embed_captures
    from attnviz.corpus.samples import map_texts, sample_pictures

    caps = list(_captures(loaded, job))
    embedding = embed_captures(caps)
    texts = map_texts(loaded)
    pictures = iter(sample_pictures(loaded))
    placed = tuple(
        place
        for cap in caps
        for place in joint_map.texts_on_map(
            embedding, cap, None if texts else tuple(islice(pictures, cap.n_batch))
        )
    )
    return embedding, placed, texts


def _captures(loaded: "LoadedModel", job: Job) -> "Iterator[Capture]":
    """The model's own texts or pictures, some at a time."""
    from attnviz.capture.run import capture
    from attnviz.corpus.samples import map_texts, sample_pictures

    texts = map_texts(loaded)
    pictures = sample_pictures(loaded)
    for start in range(0, len(texts or pictures), BATCH):
        part = slice(start, start + BATCH)
        inputs = {"text": texts[part], "cut": True} if texts else {"image": pictures[part]}
        yield capture(loaded, **inputs)
        job.report(start / len(texts or pictures))


def _mount(shown: PageContext, fitted: Fitted, sentences: tuple[str, ...]) -> None:
    lang, (embedding, placed, texts) = shown.lang, fitted
    loaded, capture = shown.captured.model, shown.captured.capture
    fits = len(capture.tokens) <= MAX_OWN
    if not fits:
        st.info(text(lang, "map.too_long", limit=MAX_OWN))
    typed = more_texts.texts(lang, loaded, sentences) if texts else ()
    more = more_texts.placed(shown, embedding, typed)
    if more is None:
        return
    by_tsne = tsne.chosen(
        shown,
        embedding.heads,
        lambda job: [
            *_captures(loaded, job),
            *more_texts.captured(loaded, typed),
            *([capture] if fits else []),
        ],
        typed,
    )

    def view() -> component.MapView:
        picture = shown.captured.media.picture
        pictures = None if picture is None else [picture]
        own = joint_map.texts_on_map(embedding, capture, pictures)[0] if fits else None
        return joint_map.map_view(embedding, placed, own, bool(texts), by_tsne, more)

    drawn = "" if by_tsne is None else str(by_tsne.head)
    extent, key = heads.extent(embedding.heads, MAX_INDEX), widgets.component_key("map")
    on = {
        "selection": fragments.keep_selection(key, extent),
        "open": _open(key, extent, (*texts, *typed)),
    }
    kept = "\0".join([f"{shown.captured.key} {drawn}", *typed])
    draw(component.CANVAS, view, key, lang, on, kept)


def _open(key: str, extent: Extent, texts: tuple[str, ...]) -> Callable[[], None]:
    """A callback that opens the cell of a token: its text first, if it is not the visitor's."""

    def open_page() -> None:
        sent = widgets.component_value(key, "open")
        request = parse_open(sent, extent)
        name = sent.get("name") if isinstance(sent, Mapping) else None
        if request is None or not (isinstance(name, str) and name.isdecimal()):
            return
        if int(name) < len(texts):
            current.open_text(address.cleaned("text", texts[int(name)]))
        current.open_attention(None, None)
        current.take_opened(request)
        st.switch_page(routes.file(request.page), query_params=address.params(current.view()))

    return open_page
