"""The room Compute: the way of one row through a head, or another face of one of its stops.

In: the view, which names the face. Out: the picture of the row with all matrices below it; with
arrows or other masks in the row's place, its rail remains below them; own numbers are a row of
typed matrices. Below the row and the masks stands the effect of an edit, or of a mask laid over a
head, on the model's answer, with its control: the model runs again with the edits as changes of its
head. On Masks a hint stands in its place while nothing is edited, and below it the masks as code
for every attention API (`masks.code`), with what each returns for a query that has no key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.frame import (
    attention_choice,
    capture_of_view,
    forbidden_look,
    fragments,
    frame,
    run_again,
    take,
)
from attnviz.app.host.draw import draw
from attnviz.app.page_parts import atlas, calculator, geometry, inside
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.shared import shared
from attnviz.app.session import address_bar, current, messages, openings, widgets
from attnviz.app.session.fragment import fragment
from attnviz.attention import edits as hand
from attnviz.errors import BadInput
from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.masks import code, spec
from attnviz.pictures import effects as effects_picture
from attnviz.pictures.effects import EffectsView
from attnviz.pictures.group import answers
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.masks.fill import mask_parts
from attnviz.pictures.steps import Face
from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.capture.blocked_rows import BlockedRow
    from attnviz.changes import Change

EDITED_ANSWER = "edited_answer"
MAX_EDITED = 256  # a few sentences each
MAX_LISTED = 32  # tokens up to which a mask without a name is listed cell by cell
SHOWN_VALUES = 4


def show() -> None:
    """Draw the face that the view names."""
    FACES[current.view().drawing.face or None]()


def _row() -> None:
    shown = capture_of_view.shown(current.language())
    if shown is None:
        return
    shown = attention_choice.choice(shown)
    openings.open_a_new_text(shown)
    with _face():
        forbidden_look.say_not_applied(shown)
        fragments.player(shown)
        if not address_bar.is_embedded():
            _edited_answer(shown, "steps")
    with _line():
        fragments.steps(shown)
    if frame.ends(shown):
        return
    atlas.place_of_text(shown)
    inside.show(shown)
    frame.verification(shown, can_edit=True)
    take.offer(shown, "steps", "steps")


def _masks() -> None:
    shown = capture_of_view.shown(current.language(), with_second=True)
    if shown is None:
        return
    shown = attention_choice.choice(shown)
    with _face():
        forbidden_look.say_not_applied(shown)
        fragments.masks(shown)
    _rail(shown)
    if frame.ends(shown):
        return
    _edited_answer(shown, "masks")
    atlas.place_of_text(shown)
    _mask_code(shown)
    frame.verification(shown, can_edit=True)
    take.offer(shown, "masks", "head")


def _arrows() -> None:
    """Without a capture everything but the real head is there."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        shown = attention_choice.choice(shown)
    with _face():
        if shown is not None:
            forbidden_look.say_not_applied(shown)
        geometry.show(lang, shown)
    if shown is None:
        return
    _rail(shown)
    if frame.ends(shown):
        return
    geometry.verification(shown)
    take.offer(shown, "geometry")


def _numbers() -> None:
    calculator.show(frame.open_page("calculator"))


def _rail(shown: PageContext) -> None:
    """The stops below a face; a frame shows one picture alone."""
    if not address_bar.is_embedded():
        with _line("rail"):
            fragments.steps(shown)


def _face() -> DeltaGenerator:
    return st.container(key=widgets.key("compute.face"))


def _line(name: str = "row") -> DeltaGenerator:
    return st.container(key=widgets.key(f"compute.{name}"))


FACES: Mapping[Face | None, Callable[[], None]] = {
    None: _row,
    "numbers": _numbers,
    "arrows": _arrows,
    "masks": _masks,
}


def _mask_code(shown: PageContext) -> None:
    """Two closed boxes: code, and blocked rows."""
    layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
    exists = layer < shown.group.n_layers and head <= shown.size.extent.last_head(layer)
    # the masks above have said so; all steps of a head of 12,000 tokens would take 2 GiB
    if not (exists and shown.size.whole) or shown.group.own_code(layer):
        return
    with st.expander(text(shown.lang, "forensics.code_title")):
        st.markdown(text(shown.lang, "forensics.code_intro"))
        _masks_as_code(shown, layer, head)
    with st.expander(text(shown.lang, "forensics.fates_title")):
        st.markdown(text(shown.lang, "forensics.fates_intro"))
        _blocked_rows(shown.lang)


@fragment(fragments.MASK_CODE)
def _masks_as_code(shown: PageContext, layer: int, head: int) -> None:
    batches, masks = shown.group.batches(layer), current.view().drawing.masks
    chosen = spec.parse(masks) if masks else None
    for place, batch in enumerate(batches, start=1):
        if len(batches) > 1:
            st.markdown(text(shown.lang, "forensics.sentence", number=place))
        parts = mask_parts(shown.group, layer, head, batch, chosen)
        if max(parts.n_query, parts.n_key) > MAX_LISTED and parts.cells is not None:
            st.caption(text(shown.lang, "forensics.too_long", limit=MAX_LISTED))
            continue
        titles = [text(shown.lang, f"forensics.{name}") for name in code.CONVENTIONS]
        for tab, convention in zip(st.tabs(titles), code.CONVENTIONS, strict=True):
            tab.code(code.code(parts, convention), language="python")


@shared(most=1)
def dead_rows() -> "tuple[BlockedRow, ...]":
    """The results of each attention API for a query whose keys are all blocked."""
    from attnviz.capture import blocked_rows

    return blocked_rows.blocked_rows()


def _blocked_rows(lang: Language) -> None:
    """A table of what each API returns for a row without keys, as the library just computed it."""
    columns = [text(lang, f"forensics.{name}") for name in ("interface", "gives", "numbers")]
    rows = [
        (
            text(lang, f"forensics.fate_{row.implementation}"),
            text(
                lang, f"forensics.verdict_{row.verdict}", what=text(lang, f"forensics.{row.gives}")
            ),
            joined(
                lang, (number(lang, value, ".3g") for value in row.values[:SHOWN_VALUES]), "clauses"
            ),
        )
        for row in dead_rows()
    ]
    st.table([dict(zip(columns, row, strict=True)) for row in rows], hide_index=True)


def _edited_answer(shown: PageContext, page: str) -> None:
    """The sentence, which runs again after each edit."""
    widgets.rerun_too(EDITED_ANSWER)
    with st.container(key=widgets.key(f"{EDITED_ANSWER}.{page}")):
        _sentence(shown, page)


@fragment(EDITED_ANSWER)
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
        if run_again.needs_model(shown, "edited"):
            return
        request = run_again.of_shown(shown)
        if request is None:
            return
        answered = answer_runs.answers(shown.captured, request, ())
        where = Site(layer, head, shown.group.kind, shown.group.stack)
        key = f"{shown.captured.key} {request.key} {page} {shown.group.name} {layer} {head}"
        try:
            edited = _edited(
                f"{key} {written} {lang}", lambda: _answer(shown, answered, page, written, where)
            )
        except BadInput as error:
            if error.code == "edit_outside":  # the picture above has said so
                return
            raise
        st.markdown(edited.sentence)
        if edited.turned is not None and not address_bar.is_embedded():
            draw(effects_picture.CANVAS, edited.turned, "edited", lang)
        if edited.control:
            st.caption(edited.control)


@dataclass(frozen=True)
class EditedAnswer:
    """A sentence on the answer, its control, and what the line of the text is told.

    Of an answer to another text there is a note alone.
    """

    sentence: str
    control: str = ""
    turned: EffectsView | None = None


@shared(most=MAX_EDITED)
def _edited(key: str, _read: Callable[[], EditedAnswer]) -> EditedAnswer:
    """The answer that `_read` reads; `key` names all that determines it."""
    return _read()


def _answer(
    shown: PageContext, answered: Answering, page: str, written: str, where: Site
) -> EditedAnswer:
    """The answer after the edits, in words and numbers; a note where it is to another text."""
    from attnviz.experiment.changed_run import changed_numbers

    lang, group = shown.lang, shown.group
    call, drawn = answered.run.prepared.call_of(where), group.call(where.layer)
    same = (call.n_query, call.n_key) == (drawn.n_query, drawn.n_key)
    # a mask fits a text of any length: what was drawn may be padded beside a longer sentence
    if not same and (page == "steps" or shown.captured.n_asked):
        return EditedAnswer(text(lang, "edited.another_text"))
    run = answered.run
    changes = _changes(page, written, where)
    result = changed_numbers(run.prepared, run.reader.read, changes, control="directions")
    what = text(lang, f"edited.{page}", head=str(where))
    of = (lang, run.prepared, run.reader, result)
    sentence = answers.changed_sentence(*of, "edited", quote=messages.plain, what=what)
    plain = answers.changed_sentence(*of, "switchboard", what=what)
    control = answers.control_sentence(lang, run.reader, result, "edited")
    turned = effects_picture.of_edit(run.reader, where, result.before, result.after, plain)
    return EditedAnswer(sentence, control, turned)


def _changes(page: str, written: str, where: Site) -> "tuple[Change, ...]":
    """The edits of Steps, or the masks of Masks, as changes of the head that is shown."""
    from attnviz.changes import Edited, mask

    if page == "masks":
        return (mask(where, spec.parse(written)),)
    return tuple(Edited(where, edit) for edit in hand.parse(written))
