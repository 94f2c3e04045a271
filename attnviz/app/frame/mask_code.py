"""Below the masks: the mask as code for every attention API, and blocked rows in each of them.

In: what is shown on the face “Other masks”. Out: code to copy (`masks.code`) for the masks that
are on, and a table of what each API returns for a query that may attend to no key.
"""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.server.shared import shared
from attnviz.app.session import current
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.masks import code, spec
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.masks.fill import mask_parts

if TYPE_CHECKING:
    from attnviz.capture.blocked_rows import BlockedRow

# a mask without a name is listed cell by cell up to this many tokens
MAX_LISTED = 32
SHOWN_VALUES = 4
# the fragment that runs again when other masks are applied
CODE = "mask_code"


def show(shown: PageContext) -> None:
    """Two closed boxes: code, and blocked rows."""
    layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
    exists = layer < shown.group.n_layers and head <= shown.size.extent.last_head(layer)
    # the masks above have said so; all steps of a head of 12,000 tokens would take 2 GiB
    if not (exists and shown.size.whole) or shown.group.own_code(layer):
        return
    with st.expander(text(shown.lang, "forensics.code_title")):
        st.markdown(text(shown.lang, "forensics.code_intro"))
        _code(shown, layer, head)
    with st.expander(text(shown.lang, "forensics.fates_title")):
        st.markdown(text(shown.lang, "forensics.fates_intro"))
        _blocked_rows(shown.lang)


@fragment(CODE)
def _code(shown: PageContext, layer: int, head: int) -> None:
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
