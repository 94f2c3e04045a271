"""Ranked heads as buttons with their sum, and all of them in a table; a button opens its head.

Ask for a head and Draw a pattern end here. The sum is written so that its rounded numbers add up.
"""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.types import HeadId
from attnviz.ui.session import address, address_bar, current, routes, widgets
from attnviz.views.ranking import RankedHead

N_SHOWN: Final = 6
MINUS = "\N{MINUS SIGN}"


def show(
    lang: Language,
    name: str,
    ranked: tuple[RankedHead, ...],
    columns: tuple[str, str],
    words: Mapping[HeadId, str] | None = None,
) -> None:
    """The clearest heads as buttons, all in a table; `name` is that of the texts and of the keys.

    `columns` are the keys of the texts over share and control, `words` the helps of the buttons.
    """
    if not ranked:
        st.caption(text(lang, f"{name}.none"))
        return
    st.caption(text(lang, f"{name}.legend"))
    helps = words or {}
    with st.container(horizontal=True):
        for row in ranked[:N_SHOWN]:
            label = f"**{row.head}** {_sum(row)}"
            key = widgets.key(f"{name}.{row.head}")
            if st.button(label, key=key, help=helps.get(row.head)):
                _open(row.head)
        with st.popover(text(lang, "links.all", count=len(ranked))):
            _table(lang, ranked, columns)


def _table(lang: Language, ranked: tuple[RankedHead, ...], columns: tuple[str, str]) -> None:
    share, control = columns
    st.dataframe(
        {
            text(lang, "links.head"): [str(row.head) for row in ranked],
            text(lang, share): [row.share for row in ranked],
            text(lang, control): [row.control for row in ranked],
            text(lang, "links.difference"): [row.difference for row in ranked],
        },
        hide_index=True,
    )


def _sum(row: RankedHead) -> str:
    share, control = round(row.share, 3), round(row.control, 3)
    return f"{share:.3f} {MINUS} {control:.3f} = {share - control:.3f}".replace("-", MINUS)


def _open(head: HeadId) -> None:
    """Show a head on the page Head, at the cell of the view."""
    current.update(layer=head.layer, head=head.head, mean=None)
    address_bar.mount_anew()
    st.switch_page(routes.file("head"), query_params=address.params(current.view()))
