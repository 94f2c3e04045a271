"""What a visitor sees while a model comes from the hub: how many bytes are here, of how many.

In: the language and a source. Out: nothing, once the model's files are on this machine. Each model
is fetched once in the life of the server; a registered model or a folder is here already.
"""

import time

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.models.registry import HUB_ID, REGISTRY
from attnviz.ui.server import cache
from attnviz.ui.server.sources import Source

PAUSE_S = 0.2
MB = 1_000_000


def fetched(lang: Language, source: Source) -> None:
    """Download a hub model, with a bar."""
    if source.name in REGISTRY or source.stamp or not HUB_ID.fullmatch(source.name):
        return
    if source.name in cache.downloaded():
        return
    place, last = st.empty(), 0.0

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if total > 0 and (now - last >= PAUSE_S or done >= total):
            last = now
            place.progress(min(done / total, 1.0), said(lang, done, total))

    try:
        cache.download(source.name, show)
    finally:
        place.empty()


def said(lang: Language, done: int, total: int) -> str:
    """So many of so many megabytes; small ones with a digit more."""
    digits = 1 if total >= MB else 3
    here, in_all = (f"{n / MB:.{digits}f}" for n in (done, total))
    return text(lang, "wait.download", done=here, total=in_all)
