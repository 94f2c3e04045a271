"""The effect of an edit, or of a mask laid over a head, on the model's answer: on Steps and Masks.

In: what is shown, and the edits or masks of the view. Out: a sentence with its control; a hint in
its place while nothing is edited. The model runs again with the head's output replaced by
what the edited steps give.
"""

from typing import TYPE_CHECKING

import streamlit as st

import attnviz
from attnviz.attention import edits as hand
from attnviz.errors import BadInput
from attnviz.i18n import text
from attnviz.masks import spec
from attnviz.ui.effects import inputs
from attnviz.ui.page import needs_model
from attnviz.ui.server import answer_runs, buffers
from attnviz.ui.server.answer_runs import Answering
from attnviz.ui.session import current, messages, widgets
from attnviz.ui.session.fragment import fragment
from attnviz.views import switchboard as views
from attnviz.views.app_capture import PageContext

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.steps import Steps
    from attnviz.changes.site import Site

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
            if shown.captured.loaded is not None:
                st.caption(text(lang, f"edited.hint_{page}"))
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
    from attnviz.changes.site import Site
    from attnviz.experiment.output_replacement import call_of, replaced

    lang, group = shown.lang, shown.group
    where = Site(layer, head, group.kind, group.stack)
    call, drawn = call_of(answered.prepared, where), group.call(layer)
    same = (call.n_query, call.n_key) == (drawn.n_query, drawn.n_key)
    # a mask fits a text of any length: what was drawn may be padded beside a longer sentence
    if not same and (page == "steps" or shown.captured.n_asked):
        return (text(lang, "edited.another_text"),)
    steps = _steps(call, page, written, where)
    result = replaced(answered.prepared, answered.answer, where, steps.mixed)
    name = f"{views.prefix(group)}L{layer}.H{head}"
    what = text(lang, f"edited.{page}", head=name)
    sentence = views.changed_sentence(
        lang, answered.prepared, answered.answer, result, "edited", quote=messages.plain, what=what
    )
    return sentence, views.control_sentence(lang, answered.answer, result, "edited")


def _steps(call: "AttentionCall", page: str, written: str, where: "Site") -> "Steps":
    """The head's steps with the edits, or under the masks."""
    import torch

    assert where.head is not None, "one head"
    if page == "steps":
        return attnviz.derive(call, where.head, edits=hand.parse(written))
    masks, keep = spec.parse(written), torch.ones(call.n_key, dtype=torch.bool)
    parts = attnviz.masks.named(masks, call.n_query, keep)
    everything = torch.ones(call.n_query, call.n_key, dtype=torch.bool)
    may_attend = attnviz.masks.combine(everything, *parts.values())
    return attnviz.derive(call, where.head, mask=may_attend)
