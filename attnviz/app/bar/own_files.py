"""The parts of the menu for a file of the visitor's own: a capture, a text, a sound.

In: the language. Out: uploaders, what of the file is shown, and ways to something else. A file is
checked before it is kept, in this session only, and is handed on once, when it arrives; a refusal
stays beside its uploader until the next file.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from attnviz.app.server import opened_captures
from attnviz.app.session import current, messages, sounds, uploads, widgets
from attnviz.app.session.messages import plain
from attnviz.audio import sound
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.pictures.group.titles import model_title
from attnviz.types import MIB

Take = Callable[[str, bytes], None]
CAPTURE = "capture_file"
TEXT, PASTED = "text_file", "pasted"
SOUND = "sound_file"
MAX_SOUND_MIB = sound.MAX_BYTES // MIB


@dataclass(frozen=True)
class Uploader:
    """A widget by its name: the ending of its files, the most MiB, and its two texts."""

    widget: str
    ending: str
    max_mib: int
    label: str
    tip: str

    def show(self, lang: Language, take: Take) -> None:
        """Draw it; `take` gets the name and the bytes of a new file, and may refuse them."""
        file = st.file_uploader(
            self.label,
            type=[self.ending],
            max_upload_size=self.max_mib,
            key=widgets.key(self.widget),
            help=self.tip,
            on_change=_hand_on,
            args=(self.widget, take),
        )
        problem = uploads.problem(self.widget)
        if file is not None and problem is not None:
            messages.show(lang, problem)


def _hand_on(widget: str, take: Take) -> None:
    file = widgets.value(widget)
    if file is not None:
        keep(widget, take, file.name, file.getvalue())


def keep(widget: str, take: Take, name: str, data: bytes) -> None:
    """Hand on a file; what refuses it is kept for the widget."""
    with uploads.taking(widget):
        take(name, data)


def open_capture_replaces(lang: Language) -> bool:
    """True if a capture is open, which is then described in place of text and model."""
    digest = current.view().input.capture
    if not digest:
        return False
    captured = opened_captures.opened(digest)
    if captured is not None:
        tokens = captured.capture.tokens
        model = plain(model_title(lang, captured.name))
        st.caption(text(lang, "opened.reading", model=model, count=len(tokens)))
        words = tokens.text.strip() or " ".join(tokens.labels)
        st.caption(text(lang, "compare.quote", text=plain(words)))
    st.button(
        text(lang, "opened.close"),
        key=widgets.key("opened.close"),
        on_click=current.open_capture,
        args=("",),
        width="stretch",
    )
    return True


def capture_upload(lang: Language) -> None:
    """An uploader, folded away."""
    with st.expander(text(lang, "opened.title"), key=widgets.key("opened")):
        most = opened_captures.MAX_BYTES // MIB
        texts = text(lang, "opened.upload"), text(lang, "opened.help")
        Uploader(CAPTURE, "safetensors", most, *texts).show(lang, _take_capture)


def _take_capture(name: str, data: bytes) -> None:
    current.open_capture(opened_captures.open_upload(data, name))


def text_upload(lang: Language) -> None:
    """An uploader, folded away."""
    with st.expander(text(lang, "menu.file"), key=widgets.key("file")):
        most = uploads.MAX_TEXT_BYTES // MIB
        texts = text(lang, "menu.file_upload"), text(lang, "menu.file_help")
        Uploader(TEXT, "txt", most, *texts).show(lang, _take_text)


def take_pasted(typed: str) -> None:
    """Read a text that is too long for the box as if it had come from a file."""
    name = text(current.language(), "menu.pasted")
    keep(PASTED, _take_text, name, typed.encode("utf-8", "replace"))


def pasting_problem(lang: Language) -> None:
    """Show why the text that was pasted last is not read, if it is not."""
    problem = uploads.problem(PASTED)
    if problem is not None:
        messages.show(lang, problem)


def _take_text(name: str, data: bytes) -> None:
    uploads.keep_text(uploads.text_file(name, data))


def sound_choice(lang: Language) -> None:
    """The chosen sound, and the ways to another one."""
    name = current.view().input.sound or sounds.SAMPLE
    widget = f"sound.{lang}"
    st.selectbox(
        text(lang, "sound.label"),
        sounds.NAMES if name == sounds.OWN else sounds.NAMES[:1],
        key=widgets.showing(widget, name),
        format_func=lambda option: text(lang, f"sound.{option}"),
        on_change=_take_sound_name,
        args=(widget,),
    )
    chosen = sounds.named(name)
    if chosen is not None:
        wav, picture = sounds.heard(chosen)
        st.audio(wav, format="audio/wav")
        st.image(picture, alt=text(lang, "sound.picture"), width="stretch")
        st.caption(text(lang, "sound.lasts", seconds=number(lang, chosen.seconds, ".2f")))
    tip = text(lang, "sound.upload_help", limit=MAX_SOUND_MIB, seconds=sound.LONGEST_S)
    Uploader(SOUND, "wav", MAX_SOUND_MIB, text(lang, "sound.upload"), tip).show(lang, _take_sound)


def _take_sound_name(widget: str) -> None:
    name = widgets.value(widget)
    sounds.hear("" if name == sounds.SAMPLE else name)


def _take_sound(_name: str, data: bytes) -> None:
    sounds.keep(data)
