"""The fragments around the components, and the callbacks that take over what a visitor did.

In: what is shown. Out: a mounted component. What a component sends back reruns its fragment alone.
A selection committed on Overview or Head is only stored, since the browser already shows it:
nothing runs again but the links that carry it. Buffers are cached under keys that name all they
are made of, so a rerun with equal input builds nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import streamlit as st

import attnviz
from attnviz.app.frame import notices
from attnviz.app.frame.choices import renew, renew_links
from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import address_bar, current, messages, routes, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.attention import edits
from attnviz.i18n import text
from attnviz.pictures import grid as grid_picture
from attnviz.pictures import head as head_picture
from attnviz.pictures import masks as masks_picture
from attnviz.pictures import rest as rest_picture
from attnviz.pictures import steps as steps_picture
from attnviz.pictures import writing
from attnviz.pictures.group import groups, heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import MAX_POOLED_CELLS, MAX_WHOLE
from attnviz.pictures.group.measures import Measured, measure
from attnviz.pictures.masks import fill as masks_fill
from attnviz.pictures.shared.canvas import Canvas
from attnviz.pictures.shared.heads import Axes, HeadsView
from attnviz.pictures.shared.options import parse_options
from attnviz.pictures.shared.selection import (
    Asked,
    Extent,
    parse_open,
    parse_question,
    parse_selection,
)
from attnviz.pictures.steps import fill as steps_fill
from attnviz.types import HeadId

if TYPE_CHECKING:
    from attnviz.attention.steps import Steps

MAX_MEASURED = 24  # as many as captures
FIRST_SIGHT = "first_sight"  # what was chosen when a capture came into sight
# the fragments that answer what is asked of a cell, which stand below the heads
ANSWERS: dict[Asked, str] = {"forbid": "effects", "links": "head_links"}
MASK_CODE = "mask_code"  # the fragment of Compute that runs again when other masks are applied
FACES = get_args(steps_picture.Face)
MAX_STEPS = 2  # the largest, of 2,048 tokens, keeps 70 MB


def player(shown: PageContext) -> None:
    """The bar that steps through the generated tokens; nothing if there are none."""
    if groups.generated_queries(shown.group).any():
        _player(shown)


@fragment()
def _player(shown: PageContext) -> None:
    with messages.guard(shown.lang):
        extent = shown.size.extent
        axes = Axes.of(*token_axes(shown), shown.group.cross)
        on = {"selection": keep_selection(extent)}
        draw(writing.CANVAS, writing.PlayerView(axes, extent), "player", shown.lang, on)


def grows(shown: PageContext) -> bool:
    """True if a square of the grid grows in place: where all weights come with the picture."""
    return shown.size.all_at_once and not grid_picture.comes_first(shown.size)


def look(shown: PageContext) -> None:
    """All heads of the first text; the square that is clicked grows into its head in place."""
    with st.container(key=widgets.key("look"), gap=None):
        grid(shown, grows=True)
        head(shown, grows=True)


@fragment()
def grid(shown: PageContext, grows: bool = False) -> None:
    """All heads of the first text."""
    with messages.guard(shown.lang):
        size = shown.size
        if not size.all_at_once and not size.pooled:
            notices.too_long(
                shown.lang,
                "all_heads",
                tokens=size.n_longest,
                cells=round(size.n_cells / 1e6),
                longest=MAX_WHOLE,
                limit=round(MAX_POOLED_CELLS / 1e6),
            )
            return
        at, is_sorted = _first_sight(shown)
        first = at if grid_picture.comes_first(size) else None
        known = measured(shown) if is_sorted else None

        def overview() -> HeadsView:
            if size.pooled:
                return grid_picture.overview(shown, known)
            if first is not None:
                return grid_picture.first_look(shown, known, first)
            return heads.grid_view(shown, known)

        name = f"{known is not None} {first}"
        with messages.spinner(text(shown.lang, "wait.afar"), quick=not size.pooled):
            _draw_heads(grid_picture.CANVAS, shown, overview, grows, name)


@fragment()
def head(shown: PageContext, grows: bool = False) -> None:
    """One head of the first text; the browser switches to the others without a message."""
    with messages.guard(shown.lang):
        _draw_heads(head_picture.CANVAS, shown, lambda: heads.head_view(shown, None), grows)


@fragment()
def rest(shown: PageContext, *, weights: bool) -> None:
    """Tell the pictures what they did not need at first: what each head does, and `weights`."""
    size, lang = shown.size, shown.lang
    if not (size.all_at_once or size.pooled):
        return
    with messages.guard(lang):
        draw(
            rest_picture.CANVAS,
            lambda: rest_picture.words(shown, measured(shown)),
            "rest",
            lang,
            kept=shown.key,
        )
        if not (weights and grid_picture.comes_first(size)):
            return
        for layers in rest_picture.parts(shown):
            draw(
                rest_picture.CANVAS,
                lambda layers=layers: rest_picture.weights(shown, layers),  # type: ignore[misc]
                f"rest.{layers.start}",
                lang,
                kept=f"{shown.key} {layers.start}",
            )


def _first_sight(shown: PageContext) -> tuple[HeadId, bool]:
    """The head that was chosen when this capture was first shown, and if heads were sorted then.

    What has changed since was changed in the browser, which needs no other picture for it.
    """
    kept: tuple[str, HeadId, bool] | None = store.get(FIRST_SIGHT)
    if kept is None or kept[0] != shown.key:
        view = current.view()
        head = HeadId(*shown.size.nearest_head(*view.place.layer_and_head))
        kept = shown.key, head, view.drawing.order != "layer"
        store.put(FIRST_SIGHT, kept)
    return kept[1:]


def _draw_heads(
    canvas: Canvas[HeadsView],
    shown: PageContext,
    view: Callable[[], HeadsView],
    grows: bool,
    name: str = "",
) -> None:
    extent = shown.size.extent
    on = {
        "selection": keep_selection(extent),
        "open": open_head(extent),
        "ask": answer_question(extent),
    }
    forbids = grows and shown.captured.loaded is not None and not shown.group.uneven
    kept = f"{shown.key} {grows} {forbids} {name}"
    draw(
        canvas,
        lambda: replace(view(), grows=grows, forbids=forbids),
        canvas.name,
        shown.lang,
        on,
        kept,
    )


@fragment("steps")
def steps(shown: PageContext) -> None:
    """Every step of the chosen head; another head is derived when it is asked for.

    Below another face they are its rail: what keeps a head from having steps is said by the face.
    """
    face = current.view().drawing.face or None
    if face is not None and not _has_steps(shown):
        return
    with messages.guard(shown.lang):
        if not _fits(shown):
            return
        layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
        if shown.group.own_code(layer):
            notices.own_code(shown, layer)
            return
        edited = current.view().drawing.edits
        extent = shown.size.extent
        faces = () if address_bar.is_embedded() else FACES
        on = {
            "selection": keep_selection(extent, "steps"),
            "edit": _keep_edits,
            "face": open_face,
        }

        def view() -> steps_picture.StepsData:
            before, changed = _steps(shown, layer, head), edits.parse(edited)
            row = steps_fill.steps(shown, layer, head, before, changed)
            return replace(row, faces=faces, face=face)

        kept = f"{shown.key} {layer} {head} {edited} {face} {len(faces)}"
        draw(steps_picture.CANVAS, view, "steps", shown.lang, on, kept)


@fragment("masks")
def masks(shown: PageContext) -> None:
    """The chosen head on every sentence of the batch, under each combination of masks."""
    with messages.guard(shown.lang):
        if not _fits(shown):
            return
        layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
        if shown.group.own_code(layer):
            notices.own_code(shown, layer)
            return
        extent = shown.size.extent
        draw(
            masks_picture.CANVAS,
            lambda: masks_fill.masks_data(shown, layer, head),
            "masks",
            shown.lang,
            {"selection": keep_selection(extent, "masks", *rail())},
            kept=f"{shown.key} {layer} {head}",
        )


def rail() -> tuple[str, ...]:
    """The fragment of the rail below a face of Compute; a frame has none."""
    return () if address_bar.is_embedded() else ("steps",)


@shared(most=MAX_MEASURED)
def measured(shown: PageContext) -> Measured:
    """The role and the measures of each head of a group on the first text."""
    return measure(shown.group)


@shared(most=MAX_STEPS, holds_model=True)
def _steps(shown: PageContext, layer: int, head: int) -> "Steps":
    """The steps of one head on the first text, as the model computes them."""
    return attnviz.derive(shown.group.call(layer), head, shown.group.row(layer))


def _has_steps(shown: PageContext) -> bool:
    """True if the chosen head exists and all its matrices can be shown."""
    size, group = shown.size, shown.group
    layer, head = size.nearest_head(*current.view().place.layer_and_head)
    exists = layer < len(size.shapes) and head < size.shapes[layer][0]
    return exists and size.whole and not group.own_code(layer)


def _fits(shown: PageContext) -> bool:
    """True if every matrix of a head can be shown; else says which limit it is over."""
    size = shown.size
    if not size.whole:
        tokens, limit = size.n_longest, MAX_WHOLE
        notices.too_long(shown.lang, "matrices", tokens=tokens, limit=limit)
    return size.whole


def keep_selection(extent: Extent, *redraw: str) -> Callable[[object], None]:
    """A callback that stores a committed selection and renews the links.

    The fragments `redraw` run again if another head was chosen; no other fragment does. If the
    commit comes together with a change of page, asking for fragments would undo that change.
    """

    def commit(sent: object) -> None:
        selection = parse_selection(sent, extent)
        if selection is None:
            return
        before = current.view()
        current.take(parse_options(sent))
        current.take_selection(selection)
        after = current.view()
        moved = after.place.layer_and_head != before.place.layer_and_head
        fragments = [*redraw] if moved else []
        fragments += [MASK_CODE] if after.drawing.masks != before.drawing.masks else []
        renew_links(*fragments, *widgets.rerun_with_page())

    return commit


def _keep_edits(sent: object) -> None:
    """Store edited numbers; the steps and the links run again with them."""
    if isinstance(sent, str) and current.take_edits(sent):
        renew_links("steps", *widgets.rerun_with_page())


def open_head(extent: Extent) -> Callable[[object], None]:
    """A callback that opens the page and the head that a click asked for."""

    def open_page(sent: object) -> None:
        request = parse_open(sent, extent)
        if request is not None:
            current.take_opened(request)
            current.go(request.page)

    return open_page


def open_face(sent: object) -> None:
    """Open another face of Compute, or the row again; of a head that is shown, its own arrows."""
    if sent in ("", *FACES):
        if sent == "arrows":
            current.take({"tab": "head"})
        current.go(routes.door("steps", str(sent)))


def answer_question(extent: Extent) -> Callable[[object], None]:
    """A callback that takes what was asked of a cell; what answers it runs again."""

    def take(sent: object) -> None:
        question = parse_question(sent, extent)
        if question is None:
            return
        current.take_question(question)
        # a choice that comes right after takes the place of the run that is asked for here
        widgets.rerun_too(ANSWERS[question.ask])
        renew(ANSWERS[question.ask])

    return take
