"""Below the masks: the same mask in every interface's convention, and what a dead row becomes.

In: the group and head on the page Masks. Out: code to copy (`masks.code`) for the masks that
are on, and a table of what each interface makes of a row that may attend to nothing, computed when
it is opened.
"""

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.masks import code, spec
from attnviz.ui.server import cache
from attnviz.ui.session import state
from attnviz.views import masks as masked
from attnviz.views.captured import Shown

MOST_LISTED = 32  # a mask without a name is listed cell by cell up to this many tokens
SHOWN_VALUES = 4
CODE = "mask_code"  # the fragment that is drawn again when other masks are laid


def show(shown: Shown) -> None:
    """Two closed boxes; what is in them is made when they are drawn."""
    layer, head = shown.group.nearest(*state.place())
    there_is_one = layer < shown.group.n_layers and head <= shown.group.extent.last_head(layer)
    if not there_is_one or shown.group.own_code(layer):  # said above, by the masks themselves
        return
    with st.expander(text(shown.lang, "forensics.code_title")):
        st.markdown(text(shown.lang, "forensics.code_intro"))
        _code(shown, layer, head)
    with st.expander(text(shown.lang, "forensics.fates_title")):
        st.markdown(text(shown.lang, "forensics.fates_intro"))
        _fates(shown.lang)


@st.fragment(key=CODE)
def _code(shown: Shown, layer: int, head: int) -> None:
    batches, masks = shown.group.batches(layer), state.current().masks
    for number, batch in enumerate(batches, start=1):
        if len(batches) > 1:
            st.markdown(text(shown.lang, "forensics.sentence", number=number))
        parts = masked.mask_parts(
            shown.group, layer, head, batch, spec.parse(masks) if masks else None
        )
        if max(parts.n_query, parts.n_key) > MOST_LISTED and parts.cells is not None:
            st.caption(text(shown.lang, "forensics.too_long", limit=MOST_LISTED))
            continue
        names = {text(shown.lang, f"forensics.{each}"): each for each in code.CONVENTIONS}
        for tab, convention in zip(st.tabs(list(names)), names.values(), strict=True):
            tab.code(code.code(parts, convention), language="python")


def _fates(lang: Language) -> None:
    columns = [text(lang, f"forensics.{name}") for name in ("interface", "gives", "numbers")]
    rows = [
        (
            text(lang, f"forensics.fate_{row.implementation}"),
            text(
                lang, f"forensics.verdict_{row.verdict}", what=text(lang, f"forensics.{row.gives}")
            ),
            ", ".join(f"{value:.3g}" for value in row.values[:SHOWN_VALUES]),
        )
        for row in cache.dead_rows()
    ]
    st.table([dict(zip(columns, row, strict=True)) for row in rows], hide_index=True)
