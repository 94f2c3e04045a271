"""Own numbers on Compute: matrices to type or paste, their steps, and programs that compute them.

In: the sheet in the view, which stands in the address. Out: a new sheet if the typed matrices make
one; else the drafts stay in their boxes, with the error, above the last good steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.app.frame import fragments
from attnviz.app.frame.choices import renew_links
from attnviz.app.host.draw import draw
from attnviz.app.session import address_bar, current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import BadInput
from attnviz.i18n import Language, text
from attnviz.pictures import steps as steps_picture
from attnviz.pictures.shared.selection import Extent, parse_selection
from attnviz.teach.calculator import run
from attnviz.teach.calculator import sheet as sheets
from attnviz.teach.calculator.code import numpy_code, torch_code
from attnviz.teach.calculator.sheet import (
    FROM_X,
    GIVEN,
    MAX_MATRIX_CHARS,
    Matrix,
    MatrixName,
    Sheet,
)

if TYPE_CHECKING:
    from attnviz.teach.calculator.presets import Preset

DEFAULT: "Preset" = "multihead"
SOURCES = ("x", "qkv")
BOX_HEIGHT_PX = 124
PER_ROW = 2
CODE = {"numpy": numpy_code, "torch": torch_code}
# what was typed, kept while it makes no sheet
DRAFTS = "lab.drafts"
PROBLEM = "lab.problem"


def show(lang: Language) -> None:
    """Draw inputs, steps and code."""
    sheet = _sheet()
    problem: BadInput | None = store.get(PROBLEM)
    if problem is not None:
        messages.show(lang, problem)
        st.caption(text(lang, "lab.still"))
    with st.popover(text(lang, "lab.numbers"), key=widgets.key("lab.numbers"), width="content"):
        _choices(lang, sheet)
        _boxes(lang, sheet)
    _steps(lang, sheet)
    _code(lang, sheet)


def _sheet() -> Sheet:
    """The sheet of the address, or the default one."""
    from attnviz.teach.calculator.presets import preset

    written = current.view().lab
    return sheets.parse(written) if written else preset(DEFAULT)


def _choices(lang: Language, sheet: Sheet) -> None:
    from attnviz.teach.calculator.presets import PRESETS

    left, source = st.columns(2, vertical_alignment="bottom")
    mask, scale = st.columns(2)
    with left:
        st.menu_button(
            text(lang, "lab.examples"),
            PRESETS,
            key=widgets.key("lab.preset"),
            format_func=lambda name: text(lang, f"lab.preset_{name}"),
            on_click=_take_preset,
            width="stretch",
        )
    for column, name, options, value in (
        (source, "source", SOURCES, "x" if sheet.from_x else "qkv"),
        (mask, "mask_kind", sheets.MASKS, sheet.mask),
        (scale, "scale", sheets.SCALE_RULES, sheet.scale),
    ):
        # the browser answers with a label: in another language it must be another widget
        widget = f"lab.{name}.{lang}"
        column.selectbox(
            text(lang, f"lab.{name}"),
            options,
            key=widgets.showing(widget, _draft(name, value)),
            format_func=lambda option, name=name: text(lang, f"lab.{name}_{option}"),
            on_change=_take,
            args=(lang,),
        )


def _boxes(lang: Language, sheet: Sheet) -> None:
    """One box for each matrix that the chosen source and mask need."""
    names = _needed(sheet)
    rows = [st.columns(PER_ROW) for _ in range(0, len(names), PER_ROW)]
    for column, name in zip(chain(*rows), names, strict=False):
        numbers = sheets.written(sheet.matrices[name]) if name in sheet.matrices else ""
        column.text_area(
            text(lang, f"lab.matrix_{name}"),
            key=widgets.showing(f"lab.{name}", _draft(name, numbers)),
            height=BOX_HEIGHT_PX,
            max_chars=MAX_MATRIX_CHARS,
            help=text(lang, "lab.mask_help" if name == "mask" else "lab.matrix_help"),
            on_change=_take,
            args=(lang,),
        )


def _needed(sheet: Sheet) -> tuple[MatrixName, ...]:
    source = _draft("source", "x" if sheet.from_x else "qkv")
    names: tuple[MatrixName, ...] = FROM_X if source == "x" else GIVEN
    custom: tuple[MatrixName, ...] = (
        ("mask",) if _draft("mask_kind", sheet.mask) == "custom" else ()
    )
    return (*names, "w_o", *custom)


def _draft(name: str, value: str) -> str:
    """The text or option that made no sheet, if there is one; else the sheet's value."""
    drafts: Mapping[str, str] = store.get(DRAFTS) or {}
    return drafts.get(name, value)


def _take_preset() -> None:
    from attnviz.teach.calculator.presets import MAKERS, preset

    name = widgets.value("lab.preset")
    if name in MAKERS:
        _keep(preset(name))


def _take(lang: Language) -> None:
    """Make a sheet of the boxes, or keep their texts with the error."""
    options = {
        name: widgets.value(f"lab.{name}.{lang}") for name in ("source", "mask_kind", "scale")
    }
    values = {name: widgets.value(f"lab.{name}") for name in sheets.MATRICES}
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    try:
        _keep(_typed(_sheet(), options, texts))
    except BadInput as error:
        store.put(DRAFTS, dict(options) | dict(texts))
        store.put(PROBLEM, error.again())


def _keep(sheet: Sheet) -> None:
    store.put(DRAFTS, None)
    store.put(PROBLEM, None)
    view = current.view()
    current.update(replace(view, lab=sheets.write(sheet), place=view.place.without_cell))


def _typed(sheet: Sheet, options: Mapping[str, str], texts: Mapping[MatrixName, str]) -> Sheet:
    """The sheet of the typed texts; another source starts from the sheet before."""
    mask, scale = options["mask_kind"], options["scale"]
    if mask not in sheets.MASKS or scale not in sheets.SCALE_RULES:
        return sheet
    if (options["source"] == "x") != sheet.from_x:
        return _switched(sheet)
    names = (*(FROM_X if sheet.from_x else GIVEN), "w_o", "mask")
    matrices = {
        name: sheets.matrix(name, texts[name])
        for name in names
        if name in texts and (texts[name].strip() or name not in ("w_o", "mask"))
    }
    if mask == "custom" and "mask" not in matrices:
        matrices["mask"] = sheet.may_attend.astype(np.float64)
    return sheets.sheet(matrices, mask, scale, sheet.tokens)


def _switched(sheet: Sheet) -> Sheet:
    """From X to the q, k and v computed from it; the other way no X is known: the default sheet."""
    from attnviz.teach.calculator.presets import preset

    if not sheet.from_x:
        return preset(DEFAULT)
    before = sheet.matrices
    matrices: dict[MatrixName, Matrix] = {
        name: before["x"] @ before[weight] for name, weight in zip(GIVEN, FROM_X[1:], strict=True)
    }
    matrices |= {name: values for name, values in before.items() if name in ("w_o", "mask")}
    return sheets.sheet(matrices, sheet.mask, sheet.scale, sheet.tokens)


@fragment("lab")
def _steps(lang: Language, sheet: Sheet) -> None:
    with messages.guard(lang):
        extent = Extent(1, 1, sheet.n_query, sheet.n_key)
        is_alone = address_bar.is_embedded()
        draw(
            steps_picture.CANVAS,
            lambda: replace(run.sheet_steps(lang, sheet), face=None if is_alone else "numbers"),
            "lab",
            lang,
            {"selection": _keep_cell(extent), "face": fragments.open_face},
            kept=f"lab {sheets.write(sheet)} {is_alone}",
        )


def _keep_cell(extent: Extent) -> Callable[[object], None]:
    """A callback that stores the chosen cell, but no head: this one is not a model's."""

    def commit(sent: object) -> None:
        selection = parse_selection(sent, extent)
        if selection is not None:
            current.take({"query": selection.query, "key": selection.key})
            renew_links()

    return commit


def _code(lang: Language, sheet: Sheet) -> None:
    st.subheader(text(lang, "lab.code_title"))
    st.markdown(text(lang, "lab.code_intro"))
    names = [text(lang, f"lab.code_{library}") for library in CODE]
    for tab, write in zip(st.tabs(names), CODE.values(), strict=True):
        tab.code(write(sheet), language="python")
