"""The sidebar of a speech model: a sound made here, or an upload; to be heard, and to be seen.

In: the language. Out: widgets that show which sound the model hears, and change it. An upload is
checked before it is kept; a refusal is said beside the widget.
"""

import streamlit as st

from attnviz.audio import sound
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.ui.session import sounds, state
from attnviz.ui.session.messages import say

WIDGET = "sound_file"
MOST_MIB = sound.MOST_BYTES // sound.MIB


def choice(lang: Language) -> None:
    """Which sound the model hears, and the way to another one."""
    chosen = state.current().sound or sounds.MADE
    name = f"sound.{lang}"
    st.selectbox(
        text(lang, "sound.label"),
        sounds.NAMES if chosen == sounds.OWN else sounds.NAMES[:1],
        key=state.show_in_widget(name, chosen),
        format_func=lambda each: text(lang, f"sound.{each}"),
        on_change=_take_name,
        args=(name,),
    )
    heard = sounds.named(chosen)
    if heard is not None:
        st.audio(heard.wav(), format="audio/wav")
        st.image(sounds.spectrogram(heard), alt=text(lang, "sound.picture"), width="stretch")
        st.caption(text(lang, "sound.lasts", seconds=f"{heard.seconds:.2f}"))
    _upload(lang)


def _take_name(widget: str) -> None:
    name = state.widget_value(widget)
    state.update(sound="" if name == sounds.MADE else name, target="", query=None, key=None)


def _upload(lang: Language) -> None:
    file = st.file_uploader(
        text(lang, "sound.upload"),
        type=["wav"],
        max_upload_size=MOST_MIB,
        key=state.widget_key(WIDGET),
        help=text(lang, "sound.upload_help", limit=MOST_MIB, seconds=sound.LONGEST_S),
        on_change=_take_upload,
    )
    problem = state.upload_problem(WIDGET)
    if file is not None and problem is not None:
        say(lang, problem)


def _take_upload() -> None:
    file = state.widget_value(WIDGET)
    if file is None:
        return
    try:
        sounds.take(file.getvalue())
        state.no_problem()
    except AttnVizError as error:
        state.keep_problem(error, WIDGET)
