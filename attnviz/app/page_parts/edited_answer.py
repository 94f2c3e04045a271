"""The effect of an edit, or of a mask laid over a head, on the model's answer: on Steps and Masks.

In: what is shown, and the edits or masks of the view. Out: a sentence with its control; on Masks
a hint in its place while nothing is edited. The model runs again with the edits as changes of its
head.
"""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import inputs, needs_model
from attnviz.app.server import answer_runs, buffers
from attnviz.app.server.answer_runs import Answering
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.attention import edits as hand
from attnviz.errors import BadInput
from attnviz.i18n import text
from attnviz.masks import spec
from attnviz.pictures.group import answers
from attnviz.pictures.group.app_capture import PageContext
from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.changes import Change

FRAGMENT = "edited_answer"


def show(shown: PageContext, page: str) -> None:
    """The sentence, which runs again after each edit."""
    widgets.rerun_too(FRAGMENT)
    with st.container(key=widgets.key(f"{FRAGMENT}.{page}")):
        _sentence(shown, page)


@fragment(FRAGMENT)
def _sentence(shown: PageContext, page: str) -> None:
    drawing = current.view().drawing
    written = drawing.edits if page == "steps" else drawing.masks
    lang = shown.lang
    with messages.guard(lang):
        layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
        if not shown.size.whole or layer >= shown.group.n_layers or shown.group.own_code(layer):
            return
        if not written:
            if page == "masks" and shown.captured.loaded is not None:
                st.caption(text(lang, "edited.hint_masks"))
            return
        if needs_model.say(shown, "edited"):
            return
        request = inputs.of_shown(shown)
        if request is None:
            return
        answered = answer_runs.answers(shown.captured, request, ())
        key = f"{shown.captured.key} {request.key} {page} {shown.group.name} {layer} {head}"
        try:
            sentences = buffers.sentences(
                f"{key} {written} {lang}",
                lambda: _sentences(shown, answered, page, written, layer, head),
            )
        except BadInput as error:
            if error.code == "edit_outside":  # the picture above has said so
                return
            raise
        st.markdown(sentences[0])
        for control in sentences[1:]:
            st.caption(control)


def _sentences(
    shown: PageContext, answered: Answering, page: str, written: str, layer: int, head: int
) -> tuple[str, ...]:
    """The sentence on the answer and its control; a note if the answer belongs to another text."""
    from attnviz.experiment.switches import call_of, switched

    lang, group = shown.lang, shown.group
    where = Site(layer, head, group.kind, group.stack)
    call, drawn = call_of(answered.run.prepared, where), group.call(layer)
    same = (call.n_query, call.n_key) == (drawn.n_query, drawn.n_key)
    # a mask fits a text of any length: what was drawn may be padded beside a longer sentence
    if not same and (page == "steps" or shown.captured.n_asked):
        return (text(lang, "edited.another_text"),)
    run = answered.run
    changes = _changes(page, written, where)
    result = switched(run.prepared, run.reader.read, changes, control="directions")
    what = text(lang, f"edited.{page}", head=str(where))
    sentence = answers.changed_sentence(
        lang,
        answered.run.prepared,
        answered.run.reader,
        result,
        "edited",
        quote=messages.plain,
        what=what,
    )
    return sentence, answers.control_sentence(lang, run.reader, result, "edited")


def _changes(page: str, written: str, where: Site) -> "tuple[Change, ...]":
    """The edits of Steps, or the masks of Masks, as changes of the head that is shown."""
    from attnviz.changes import Edited, mask

    if page == "masks":
        return (mask(where, spec.parse(written)),)
    return tuple(Edited(where, edit) for edit in hand.parse(written))
