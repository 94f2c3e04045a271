"""The menu of a speech model: a sound made here, or an upload, to be heard and seen.

In: the language. Out: widgets that show the chosen sound, and change it. An upload is checked
before it is kept; a refusal is shown beside the widget.
"""

import streamlit as st

from attnviz.app.bar.uploader import Uploader
from attnviz.app.session import current, sounds, widgets
from attnviz.audio import sound
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.types import MIB

WIDGET = "sound_file"
MAX_MIB = sound.MAX_BYTES // MIB


def choice(lang: Language) -> None:
    """The chosen sound, and the ways to another one."""
    name = current.view().input.sound or sounds.SAMPLE
    widget = f"sound.{lang}"
    st.selectbox(
        text(lang, "sound.label"),
        sounds.NAMES if name == sounds.OWN else sounds.NAMES[:1],
        key=widgets.showing(widget, name),
        format_func=lambda option: text(lang, f"sound.{option}"),
        on_change=_take_name,
        args=(widget,),
    )
    chosen = sounds.named(name)
    if chosen is not None:
        wav, picture = sounds.heard(chosen)
        st.audio(wav, format="audio/wav")
        st.image(picture, alt=text(lang, "sound.picture"), width="stretch")
        st.caption(text(lang, "sound.lasts", seconds=number(lang, chosen.seconds, ".2f")))
    _upload(lang)


def _take_name(widget: str) -> None:
    name = widgets.value(widget)
    sounds.hear("" if name == sounds.SAMPLE else name)


def _upload(lang: Language) -> None:
    tip = text(lang, "sound.upload_help", limit=MAX_MIB, seconds=sound.LONGEST_S)
    Uploader(WIDGET, "wav", MAX_MIB, text(lang, "sound.upload"), tip).show(lang, _take_upload)


def _take_upload(_name: str, data: bytes) -> None:
    sounds.keep(data)
