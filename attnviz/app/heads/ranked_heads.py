"""Ranked heads as buttons with their sum, and all of them in a table; a button opens its head.

Ask for a head and Draw a pattern end here. The sum is written so that its rounded numbers add up.
Only heads above their control get a button; beside them stands how many these are, and the place
of the head in the picture.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import streamlit as st

from attnviz.app.session import address, address_bar, current, routes, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.group.ranking import RankedHead
from attnviz.types import HeadId

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
    above = [row for row in ranked if row.difference > 0]
    st.caption(f"{text(lang, f'{name}.legend')} {_above(lang, len(above), len(ranked))}")
    helps = words or {}
    with st.container(horizontal=True):
        for row in above[:N_SHOWN]:
            label = f"**{row.head}** {_sum(row)}"
            key = widgets.key(f"{name}.{row.head}")
            if st.button(label, key=key, help=helps.get(row.head)):
                _open(row.head)
        with st.popover(text(lang, "links.all", count=len(ranked))):
            _table(lang, ranked, columns)
    _place_of_shown(lang, ranked)


def _above(lang: Language, n_above: int, n_head: int) -> str:
    """The number of heads that are above their control."""
    if not n_above:
        return text(lang, "links.none_above")
    return text(lang, "links.above", above=n_above, count=n_head)


def _place_of_shown(lang: Language, ranked: tuple[RankedHead, ...]) -> None:
    """The place of the head that the picture shows, which may be far from the first."""
    place = current.view().place
    for rank, row in enumerate(ranked, 1):
        if (row.head.layer, row.head.head) == (place.layer, place.head):
            head, count = str(row.head), len(ranked)
            st.caption(text(lang, "links.place", head=head, sum=_sum(row), rank=rank, count=count))


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
    view = current.view()
    place = replace(view.place, layer=head.layer, head=head.head, mean=None)
    current.update(replace(view, place=place))
    address_bar.mount_anew()
    st.switch_page(routes.file("head"), query_params=address.params(current.view()))
