"""Ask for a head: all heads, ranked by how clearly they link a chosen query to a chosen key.

In: what is shown, and the cell of the view. Out: the choice of a query and a key, the clearest
heads with their control (`attnviz.views.links`), each opening its head on the page Head. The cell
is that of the picture: a click there asks anew, a choice here moves the picture's frame.
"""

from functools import partial

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.types import Tokens
from attnviz.ui.server import cache
from attnviz.ui.session import address, address_bar, current, messages, routes, store, widgets
from attnviz.views import group_tokens
from attnviz.views.captured import Shown
from attnviz.views.links import HeadLink

FRAGMENT = "head_links"
MOVED = "head_links.moved"
N_SHOWN = 6
MINUS = "\N{MINUS SIGN}"


@st.fragment(key=FRAGMENT)
def show(shown: Shown) -> None:
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
        _ranked(lang, cache.links(shown, query, key))


def _cell(shown: Shown) -> tuple[int | None, int | None]:
    """The query and the key of the view, after two boxes that choose others."""
    place = current.view().place
    axes = {"query": group_tokens.queries(shown.group), "key": group_tokens.keys(shown.group)}
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
    current.update(**{name: widgets.value(widget)})
    address_bar.mount_anew()
    store.put(MOVED, True)


def _ranked(lang: Language, links: tuple[HeadLink, ...]) -> None:
    """The clearest heads as buttons, and all of them in a table."""
    if not links:
        st.caption(text(lang, "links.none"))
        return
    st.caption(text(lang, "links.legend"))
    with st.container(horizontal=True):
        for link in links[:N_SHOWN]:
            label = f"**{link.head}** {_sum(link)}"
            if st.button(label, key=widgets.key(f"links.{link.head}"), help=_words(lang, link)):
                _open(link)
        with st.popover(text(lang, "links.all", count=len(links))):
            st.dataframe(
                {
                    text(lang, "links.head"): [str(link.head) for link in links],
                    text(lang, "links.weight"): [link.weight for link in links],
                    text(lang, "links.others"): [link.others for link in links],
                    text(lang, "links.difference"): [link.difference for link in links],
                },
                hide_index=True,
            )


def _sum(link: HeadLink) -> str:
    """The weight minus the control, written so that the rounded numbers add up."""
    weight, others = round(link.weight, 3), round(link.others, 3)
    difference = f"{weight - others:.3f}".replace("-", MINUS)
    return f"{weight:.3f} {MINUS} {others:.3f} = {difference}"


def _words(lang: Language, link: HeadLink) -> str:
    return text(
        lang,
        "links.result",
        head=str(link.head),
        weight=f"{link.weight:.3f}",
        others=f"{link.others:.3f}",
    )


def _open(link: HeadLink) -> None:
    """Show a head on the page Head, at the chosen cell."""
    current.update(layer=link.head.layer, head=link.head.head, mean=None)
    address_bar.mount_anew()
    st.switch_page(routes.file("head"), query_params=address.params(current.view()))
