"""Ask for a head: all heads, ranked by how clearly they link a chosen query to a chosen key.

In: what is shown, and the cell of the view. Out: the choice of a query and a key, the clearest
heads with their control (`pictures.group.ranking`), each opening its head on the page Head. The
cell is that of the picture: a click there asks anew, a choice here moves the picture's frame.
"""

from functools import partial

import streamlit as st

from attnviz.app.heads import ranked_heads
from attnviz.app.server.shared import shared
from attnviz.app.session import address_bar, current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.ranking import RankedHead
from attnviz.types import HeadId, Tokens

MAX_RANKED = 256  # a few numbers for each head
FRAGMENT = "head_links"
MOVED = "head_links.moved"


@fragment(FRAGMENT)
def show(shown: PageContext) -> None:
    """A switch, and below it the choice of a cell and the heads ranked for it."""
    if shown.group.uneven or not shown.size.all_at_once:
        return
    with messages.guard(shown.lang):
        lang = shown.lang
        if store.pop(MOVED):
            st.rerun()  # the picture has to show the cell that was chosen here
        if not st.toggle(
            text(lang, "links.title"), key=widgets.key("links"), help=text(lang, "links.help")
        ):
            return
        widgets.rerun_too(FRAGMENT)
        query, key = _cell(shown)
        if query is None or key is None:
            st.caption(text(lang, "links.choose"))
            return
        ranked = links(shown, query, key)
        columns = ("links.weight", "links.others")
        ranked_heads.show(lang, "links", ranked, columns, _words(lang, ranked))


@shared(most=MAX_RANKED)
def links(shown: PageContext, query: int, key: int) -> tuple[RankedHead, ...]:
    """Every head's link from a query to a key, with its control, the clearest first."""
    return ranking.links(shown.group, query, key)


def _cell(shown: PageContext) -> tuple[int | None, int | None]:
    """The query and the key of the view, after two boxes that choose others."""
    place = current.view().place
    axes = {"query": groups.queries(shown.group), "key": groups.keys(shown.group)}
    chosen: dict[str, int | None] = {}
    for column, (name, tokens) in zip(st.columns(len(axes)), axes.items(), strict=True):
        position = getattr(place, name)
        chosen[name] = position if position is not None and position < len(tokens) else None
        widget = f"links.{name}.{shown.lang}"
        column.selectbox(
            text(shown.lang, f"links.{name}"),
            list(range(len(tokens))),
            key=widgets.showing(widget, chosen[name]),
            format_func=partial(_label, tokens),
            on_change=_take,
            args=(name, widget),
            placeholder=text(shown.lang, "links.placeholder"),
        )
    return chosen["query"], chosen["key"]


def _label(tokens: Tokens, index: int) -> str:
    return f"{messages.shortened(tokens.labels[index])} ({index})"


def _take(name: str, widget: str) -> None:
    current.take({name: widgets.value(widget)})
    address_bar.mount_anew()
    store.put(MOVED, True)


def _words(lang: Language, ranked: tuple[RankedHead, ...]) -> dict[HeadId, str]:
    """A sentence for each head: its weight, and what its other rows give the key."""
    return {
        row.head: text(
            lang,
            "links.result",
            head=str(row.head),
            weight=f"{row.share:.3f}",
            others=f"{row.control:.3f}",
        )
        for row in ranked
    }
