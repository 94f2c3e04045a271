"""The page Map: queries and keys of many texts in one plane, with the visitor's own texts.

In: what is shown, the view, and what the visitor types. Out: a mounted component. The planes are
fitted by a job that all visitors of a model share; the visitor's texts are then placed at once, cut
to what a page can carry, as the weights of every text travel for all heads. For one head another
job draws the same tokens by t-SNE, if the visitor asks for it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import fragments, measurement, run_again
from attnviz.app.host.draw import draw
from attnviz.app.server.jobs import Job
from attnviz.app.session import address, current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import Cancelled, UnsupportedAttention
from attnviz.i18n import Language, text
from attnviz.pictures import map as component
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.map import fill as joint_map
from attnviz.pictures.map.fill import TextOnMap
from attnviz.pictures.shared.numbers import MAX_INDEX
from attnviz.pictures.shared.selection import Extent, extent_of, nearest_head, parse_open
from attnviz.types import HeadId

if TYPE_CHECKING:
    from attnviz.app.server.jobs import Job
    from attnviz.attention.capture import Capture
    from attnviz.corpus.embed import Embedding
    from attnviz.corpus.neighbours import Neighbours
    from attnviz.models.loaded_model import LoadedModel

FRAGMENT = "map"
MAX_OWN = 256  # tokens of the visitor's text, whose weights travel for all heads
BATCH = 16
Fitted = tuple["Embedding", tuple[TextOnMap, ...], tuple[str, ...]]
TYPED, BOX = "map_texts", "map.more"
MAX_TEXTS, MAX_CHARACTERS = 12, 4000
MAX_TOKENS = 256  # of all that one visitor types
MAX_CLASS_TOKENS = 1000  # tokens of the sentences of a class
CHOSEN = "tsne"  # the head that this visitor sees by t-SNE
Captures = Callable[[Job], "Sequence[Capture]"]


@fragment(FRAGMENT)
def show(shown: PageContext, sentences: tuple[str, ...] = ()) -> None:
    """The map of the model, with the text that is shown on it, and the sentences of a class."""
    lang = shown.lang
    with messages.guard(lang):
        if run_again.needs_model(shown, "map"):
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
    typed = further_texts(loaded, sentences) if texts else ()
    more = placed_texts(shown, embedding, typed)
    if more is None:
        return
    by_tsne = chosen_neighbours(
        shown,
        embedding.heads,
        lambda job: [
            *_captures(loaded, job),
            *captured_texts(loaded, typed),
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
    extent = extent_of(embedding.heads, MAX_INDEX)
    on = {
        "selection": fragments.keep_selection(extent),
        "open": _open(extent, (*texts, *typed)),
    }
    kept = "\0".join([f"{shown.captured.key} {drawn}", *typed])
    draw(component.CANVAS, view, "map", lang, on, kept)
    _buttons(shown, embedding.heads)
    if texts:
        box(lang, loaded)


def _open(extent: Extent, texts: tuple[str, ...]) -> Callable[[object], None]:
    """A callback that opens the cell of a token: its text first, if it is not the visitor's."""

    def open_page(sent: object) -> None:
        request = parse_open(sent, extent)
        name = sent.get("name") if isinstance(sent, Mapping) else None
        if request is None or not (isinstance(name, str) and name.isdecimal()):
            return
        if int(name) < len(texts):
            current.open_text(address.cleaned("text", texts[int(name)]))
        current.open_attention(None, None)
        current.take_opened(request)
        current.go(request.page)

    return open_page


def further_texts(loaded: "LoadedModel", sentences: tuple[str, ...]) -> tuple[str, ...]:
    """The visitor's further texts and the sentences of a class that fit on the map, each once."""
    of_class = fitting(loaded, list(sentences), MAX_CLASS_TOKENS)
    return tuple(dict.fromkeys((*_typed(loaded), *of_class)))


def _typed(loaded: "LoadedModel") -> tuple[str, ...]:
    """The visitor's further texts that fit on the map."""
    return fitting(loaded, _lines(store.get(TYPED, ""))[:MAX_TEXTS], MAX_TOKENS)


def box(lang: Language, loaded: "LoadedModel") -> None:
    """A box in which the visitor types further texts."""
    with st.expander(text(lang, "map.more"), key=widgets.key(f"{BOX}.box")):
        st.text_area(
            text(lang, "map.more_label"),
            key=widgets.showing(BOX, store.get(TYPED, "")),
            help=text(lang, "map.more_help", n=MAX_TEXTS, limit=MAX_TOKENS),
            max_chars=MAX_CHARACTERS,
            on_change=_take,
        )
        n_typed, n_fit = len(_lines(store.get(TYPED, ""))), len(_typed(loaded))
        if n_fit < n_typed:
            st.caption(text(lang, "map.more_cut", n=n_fit, of=n_typed))


def _take() -> None:
    typed = str(widgets.value(BOX) or "")[:MAX_CHARACTERS]
    store.put(TYPED, typed)


def _lines(typed: str) -> list[str]:
    """The texts of a box: a line each, no text twice."""
    cleaned = (address.cleaned("text", line.strip()) for line in typed.splitlines())
    return list(dict.fromkeys(line for line in cleaned if line.strip()))


def fitting(loaded: "LoadedModel", texts: list[str], most: int) -> tuple[str, ...]:
    """The first of the texts that have at most so many tokens together."""
    if not texts:
        return ()
    lengths = [len(ids) for ids in loaded.tokenize(texts, truncation=True)["input_ids"]]
    ends = accumulate(lengths)
    return tuple(line for line, end in zip(texts, ends, strict=True) if end <= most)


def captured_texts(loaded: "LoadedModel", texts: tuple[str, ...]) -> "list[Capture]":
    """One capture of all further texts; none without texts."""
    from attnviz.capture.run import capture

    return [capture(loaded, list(texts), cut=True)] if texts else []


def placed_texts(
    shown: PageContext, embedding: "Embedding", texts: tuple[str, ...]
) -> tuple[TextOnMap, ...] | None:
    """The further texts on the map; None while they are captured."""
    if not texts:
        return ()
    loaded = shown.captured.model
    key = "\0".join([f"map {loaded.key} more", *texts])
    return measurement.result(shown.lang, "map", key, partial(_placed, loaded, embedding, texts))


def _placed(
    loaded: "LoadedModel", embedding: "Embedding", texts: tuple[str, ...], _job: "Job"
) -> tuple[TextOnMap, ...]:
    return tuple(
        place
        for cap in captured_texts(loaded, texts)
        for place in joint_map.texts_on_map(embedding, cap)
    )


def chosen_neighbours(
    shown: PageContext, of_model: Sequence[HeadId], captures: Captures, more: Sequence[str] = ()
) -> "Neighbours | None":
    """The head that the visitor asked for by t-SNE; None while it is drawn, and for none.

    `more` are the visitor's further texts among the captures.
    """
    head = store.get(CHOSEN)
    if head not in of_model:
        return None
    key = "\0".join([f"{shown.captured.key} {head}", *more])
    return measurement.result(shown.lang, "tsne", key, partial(_drawn, captures, head))


def _buttons(shown: PageContext, of_model: Sequence[HeadId]) -> None:
    head = store.get(CHOSEN)
    lang, installed = shown.lang, find_spec("openTSNE") is not None
    with st.container(horizontal=True):
        st.button(
            text(lang, "tsne.draw"),
            key=widgets.key("tsne.draw"),
            on_click=_choose,
            args=(of_model,),
            disabled=not installed,
            help=text(lang, "tsne.help" if installed else "tsne.missing"),
        )
        if head in of_model:
            st.button(
                text(lang, "tsne.plane"),
                key=widgets.key("tsne.plane"),
                on_click=store.pop,
                args=(CHOSEN,),
            )


def _choose(of_model: Sequence[HeadId]) -> None:
    """Ask for the head that is chosen in the picture."""
    store.put(CHOSEN, nearest_head(of_model, *current.view().place.layer_and_head))


def _drawn(captures: Captures, head: HeadId, job: Job) -> "Neighbours":
    from attnviz.corpus.neighbours import neighbours

    def report(fraction: float) -> None:
        if job.cancel.is_set():
            raise Cancelled("stopped on request; ask again for the picture", code="cancelled")
        job.report(fraction)

    return neighbours(captures(job), head, progress=report)
