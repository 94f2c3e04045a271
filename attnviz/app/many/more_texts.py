"""Further texts of the visitor on the page Map: a box with a text per line, and their places.

In: what the visitor types. Out: texts that stay in the session, and these texts on the map. They
are cut to what a page can carry, as the weights of every text travel for all heads.
"""

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.effects import measurement
from attnviz.app.session import address, store, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.map import fill as joint_map
from attnviz.pictures.map.fill import TextOnMap

if TYPE_CHECKING:
    from attnviz.app.server.jobs import Job
    from attnviz.attention.capture import Capture
    from attnviz.corpus.embed import Embedding
    from attnviz.models.loaded_model import LoadedModel

TYPED, BOX = "map_texts", "map.more"
MAX_TEXTS, MAX_CHARACTERS = 12, 4000
MAX_TOKENS = 256  # of all that one visitor types
MAX_CLASS_TOKENS = 1000  # tokens of the sentences of a class


def texts(lang: Language, loaded: "LoadedModel", sentences: tuple[str, ...]) -> tuple[str, ...]:
    """The visitor's further texts and the sentences of a class that fit on the map, each once."""
    of_class = fitting(loaded, list(sentences), MAX_CLASS_TOKENS)
    return tuple(dict.fromkeys((*box(lang, loaded), *of_class)))


def box(lang: Language, loaded: "LoadedModel") -> tuple[str, ...]:
    """The visitor's further texts that fit on the map, after a box to type them."""
    with st.expander(text(lang, "map.more"), key=widgets.key(f"{BOX}.box")):
        st.text_area(
            text(lang, "map.more_label"),
            key=widgets.showing(BOX, store.get(TYPED, "")),
            help=text(lang, "map.more_help", n=MAX_TEXTS, limit=MAX_TOKENS),
            max_chars=MAX_CHARACTERS,
            on_change=_take,
        )
        typed = _lines(store.get(TYPED, ""))
        fit = fitting(loaded, typed[:MAX_TEXTS], MAX_TOKENS)
        if len(fit) < len(typed):
            st.caption(text(lang, "map.more_cut", n=len(fit), of=len(typed)))
    return fit


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


def captured(loaded: "LoadedModel", texts: tuple[str, ...]) -> "list[Capture]":
    """One capture of all further texts; none without texts."""
    from attnviz.capture.run import capture

    return [capture(loaded, list(texts), cut=True)] if texts else []


def placed(
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
        place for cap in captured(loaded, texts) for place in joint_map.texts_on_map(embedding, cap)
    )
