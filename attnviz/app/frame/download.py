"""The progress of a download from the hub: how many bytes are here, of how many.

In: a language and a source. Out: nothing, once the model's files are on this machine. Each model is
downloaded once in the life of the server; a registered model or a folder is here already.
"""

import time

import streamlit as st

from attnviz.app.server import loading
from attnviz.app.server.sources import Source
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.models.registry import HUB_ID, REGISTRY

PAUSE_S = 0.2
MB = 1_000_000


def download(lang: Language, source: Source) -> None:
    """Download a hub model, with a progress bar."""
    if source.name in REGISTRY or source.stamp or not HUB_ID.fullmatch(source.name):
        return
    if loading.is_downloaded(source.name):
        return
    bar, last = st.empty(), 0.0

    def report(n_bytes: int, n_total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if n_total > 0 and (now - last >= PAUSE_S or n_bytes >= n_total):
            last = now
            bar.progress(min(n_bytes / n_total, 1.0), download_sentence(lang, n_bytes, n_total))

    try:
        loading.download(source.name, report)
    finally:
        bar.empty()


def download_sentence(lang: Language, n_bytes: int, n_total: int) -> str:
    """The downloaded and the total megabytes; small ones with more digits."""
    digits = 1 if n_total >= MB else 3
    done, total = (number(lang, n / MB, f".{digits}f") for n in (n_bytes, n_total))
    return text(lang, "wait.download", done=done, total=total)
