"""The page Calculator: matrices to type or paste, their steps, and the programs that make them.

In: the sheet in the view, which stands in the address. Out: a new sheet when what was typed makes
one; else what was typed stays in its box, with what is wrong with it, above the last good steps.
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.components import steps as strip
from attnviz.components.selection import Extent, parse_selection
from attnviz.errors import BadInput
from attnviz.i18n import Language, text
from attnviz.lab import sheet as sheets
from attnviz.lab.code import numpy_code, torch_code
from attnviz.lab.sheet import FROM_X, GIVEN, Matrix, MatrixName, Sheet
from attnviz.ui.host.components import show_steps
from attnviz.ui.server import cache
from attnviz.ui.session import messages, state
from attnviz.ui.sidebar.navigation import NAVIGATION
from attnviz.views import steps as steps_view

if TYPE_CHECKING:
    from attnviz.lab.presets import Preset

DEFAULT: "Preset" = "multihead"
SOURCES = ("x", "qkv")
BOX_HEIGHT_PX = 150
PER_ROW = 3
CODE = {"numpy": numpy_code, "torch": torch_code}
# how a box's text is kept while it makes no matrix
DRAFTS = "lab.drafts"
PROBLEM = "lab.problem"


def show(lang: Language) -> None:
    """Draw inputs, steps and code."""
    made = _sheet()
    _choices(lang, made)
    _boxes(lang, made)
    problem: BadInput | None = state.kept(PROBLEM)
    if problem is not None:
        messages.say(lang, problem)
        st.caption(text(lang, "lab.still"))
    _steps(lang, made)
    _code(lang, made)


def _sheet() -> Sheet:
    """The sheet of the address, else the one to begin with."""
    from attnviz.lab.presets import preset

    asked = state.current().lab
    return sheets.parse(asked) if asked else preset(DEFAULT)


def _choices(lang: Language, made: Sheet) -> None:
    from attnviz.lab.presets import PRESETS

    left, source, mask, scale = st.columns([1.4, 1.2, 1.2, 1.2], vertical_alignment="bottom")
    with left:
        st.menu_button(
            text(lang, "lab.examples"),
            PRESETS,
            key=state.widget_key("lab.preset"),
            format_func=lambda name: text(lang, f"lab.preset_{name}"),
            on_click=_take_preset,
            width="stretch",
        )
    for column, name, options, now in (
        (source, "source", SOURCES, "x" if made.from_x else "qkv"),
        (mask, "mask_kind", sheets.MASKS, made.mask),
        (scale, "scale", sheets.SCALE_RULES, made.scale),
    ):
        # the browser answers with a label: in another language it must be another widget
        widget = f"lab.{name}.{lang}"
        column.selectbox(
            text(lang, f"lab.{name}"),
            options,
            key=state.show_in_widget(widget, _draft(name, now)),
            format_func=lambda option, name=name: text(lang, f"lab.{name}_{option}"),
            on_change=_take,
            args=(lang,),
        )


def _boxes(lang: Language, made: Sheet) -> None:
    """One box per matrix; what the chosen source and mask do not need has none."""
    names = _needed(made)
    rows = [st.columns(PER_ROW) for _ in range(0, len(names), PER_ROW)]
    for column, name in zip(chain(*rows), names, strict=False):
        kept = sheets.written(made.matrices[name]) if name in made.matrices else ""
        column.text_area(
            text(lang, f"lab.matrix_{name}"),
            key=state.show_in_widget(f"lab.{name}", _draft(name, kept)),
            height=BOX_HEIGHT_PX,
            help=text(lang, "lab.mask_help" if name == "mask" else "lab.matrix_help"),
            on_change=_take,
            args=(lang,),
        )


def _needed(made: Sheet) -> tuple[MatrixName, ...]:
    source = _draft("source", "x" if made.from_x else "qkv")
    names: tuple[MatrixName, ...] = FROM_X if source == "x" else GIVEN
    custom: tuple[MatrixName, ...] = ("mask",) if _draft("mask_kind", made.mask) == "custom" else ()
    return (*names, "w_o", *custom)


def _draft(name: str, kept: str) -> str:
    """What was typed or chosen, where it did not make a sheet; else what the sheet has."""
    drafts: Mapping[str, str] = state.kept(DRAFTS) or {}
    return drafts.get(name, kept)


def _take_preset() -> None:
    from attnviz.lab.presets import MAKERS, preset

    name = state.widget_value("lab.preset")
    if name in MAKERS:
        _keep(preset(name))


def _take(lang: Language) -> None:
    """Make a sheet of what stands in the boxes, or keep it there with what is wrong."""
    chosen = {
        name: state.widget_value(f"lab.{name}.{lang}") for name in ("source", "mask_kind", "scale")
    }
    typed = {name: state.widget_value(f"lab.{name}") for name in sheets.MATRICES}
    texts = {name: of for name, of in typed.items() if isinstance(of, str)}
    try:
        _keep(_typed(_sheet(), chosen, texts))
    except BadInput as error:
        state.keep(DRAFTS, dict(chosen) | dict(texts))
        state.keep(PROBLEM, error)


def _keep(made: Sheet) -> None:
    state.keep(DRAFTS, None)
    state.keep(PROBLEM, None)
    state.update(lab=sheets.write(made), query=None, key=None)


def _typed(made: Sheet, chosen: Mapping[str, str], texts: Mapping[MatrixName, str]) -> Sheet:
    mask, scale = chosen["mask_kind"], chosen["scale"]
    if mask not in sheets.MASKS or scale not in sheets.SCALE_RULES:
        return made
    if (chosen["source"] == "x") != made.from_x:
        return _switched(made)
    names = (*(FROM_X if made.from_x else GIVEN), "w_o", "mask")
    matrices = {
        name: sheets.matrix(name, texts[name])
        for name in names
        if name in texts and (texts[name].strip() or name not in ("w_o", "mask"))
    }
    if mask == "custom" and "mask" not in matrices:
        matrices["mask"] = made.may_attend.astype(np.float64)
    return sheets.sheet(matrices, mask, scale, made.tokens)


def _switched(made: Sheet) -> Sheet:
    """From X to the q, k and v that it makes; the other way there is no X to find."""
    from attnviz.lab.presets import preset

    if not made.from_x:
        return preset(DEFAULT)
    of = made.matrices
    given: dict[MatrixName, Matrix] = {
        name: of["x"] @ of[weight] for name, weight in zip(GIVEN, FROM_X[1:], strict=True)
    }
    given |= {name: values for name, values in of.items() if name in ("w_o", "mask")}
    return sheets.sheet(given, made.mask, made.scale, made.tokens)


@st.fragment(key="lab")
def _steps(lang: Language, made: Sheet) -> None:
    with messages.guard(lang):
        data = cache.buffer(
            f"lab {lang} {sheets.write(made)}",
            lambda: strip.pack_steps(steps_view.sheet_steps(lang, made)),
        )
        key = state.component_key("lab")
        extent = Extent(1, 1, made.n_query, made.n_key)
        show_steps(data, extent, key, _note(key, extent))


def _note(key: str, extent: Extent) -> Callable[[], None]:
    """A callback that keeps the chosen cell; the head is not one of a model's."""

    def noted() -> None:
        chosen = parse_selection(state.component_value(key, "selection"), extent)
        if chosen is not None:
            state.update(query=chosen.query, key=chosen.key)
            if state.only_a_fragment_runs():
                st.rerun([NAVIGATION])

    return noted


def _code(lang: Language, made: Sheet) -> None:
    st.subheader(text(lang, "lab.code_title"))
    st.markdown(text(lang, "lab.code_intro"))
    names = [text(lang, f"lab.code_{library}") for library in CODE]
    for tab, write in zip(st.tabs(names), CODE.values(), strict=True):
        tab.code(write(made), language="python")
