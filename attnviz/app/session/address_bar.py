"""The browser's address: read where it is newer than the view, written where the view is.

It is read on the first run of a session, when the visitor goes back or forward, and where a link of
the start page led, and at no other time: on an ordinary rerun the browser reports the parameters
that it remembers, and these may be older than a selection that a component has committed since.
Streamlit keeps `embed` in the address of a session and out of the query parameters.
"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.app.session import address, current, routes, store
from attnviz.pictures.shared.pages import Page

RUNS, READS, REJECTED = "run", "visit", "rejected"
CLOSED = {"open": "0"}  # in a link of Look to itself: without it an address says nothing newer
SHOWN = "shown_page"  # by the last run of the whole app
LEFT = "left"  # the parameters of an address of the start page that is to stay there
# what an address of the start page says of its stage: a text, and a look that is forbidden
STAGED = ("text", *address.INDICES, "forbid")


def adopt() -> None:
    """Count this run of the app, and read the address if it is newer than the view."""
    store.put(RUNS, n_runs() + 1)
    if store.has(current.KEPT) and not _went_back_or_forward():
        _close_head()
        return
    _read()


def arrive(page: Page) -> None:
    """Show what a link of the start page led to: that page shows no view, its links have one."""
    left = store.get(SHOWN, page)
    store.put(SHOWN, page)
    if left == routes.DEFAULT != page and names_a_view():
        _read()


def _read() -> None:
    """Show the view of the address; who is in a class stays in it."""
    before = current.view().classroom if store.has(current.KEPT) else None
    adopt_query(st.query_params.to_dict())
    now = current.view().classroom
    if before is not None and before.room == now.room and not (now.host or now.seat):
        kept = replace(now, host=before.host, seat=before.seat)  # no address has them
        current.update(replace(current.view(), classroom=kept))


def _close_head() -> None:
    """Show all heads again where a link to the page that is shown says so, in as many words."""
    if CLOSED.items() <= st.query_params.to_dict().items() and current.view().drawing.open:
        current.take({"open": False})
        mount_anew()


def adopt_query(query: Mapping[str, str]) -> None:
    """Show the view of an address, whatever was shown before."""
    values, rejected_names = address.parse(query)
    store.put(current.KEPT, address.view_of(values))
    store.put(REJECTED, rejected_names)
    mount_anew()


def write(with_view: bool = True) -> None:
    """Make the address say what the view is; the browser is told only of a change.

    Without the view, as on the start page, it names the language alone.
    """
    wanted = parameters(with_view)
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def parameters(with_view: bool = True) -> dict[str, str]:
    """The query parameters of the view; without the view, of the language alone."""
    everything = address.params(current.view())
    return (
        everything if with_view else {name: everything[name] for name in {"lang"} & {*everything}}
    )


def names_a_view() -> bool:
    """True if the address says more than a language."""
    return bool(_named())


def names_the_stage() -> bool:
    """True for an address of the stage: it names a text alone, or a look that is forbidden."""
    named = _named()
    return named == {"text"} or ("forbid" in named and named <= {*STAGED})


def name_stage(staged: dict[str, str]) -> None:
    """Have the start page's address name what its stage shows, the parameters `staged`."""
    st.query_params.from_dict(parameters(with_view=False) | staged)


def of_page() -> dict[str, str]:
    """The query parameters that restore the page that is shown; Start shows no view."""
    if store.get(SHOWN) != routes.DEFAULT:
        return parameters()
    return as_it_stands() if names_the_stage() else parameters(with_view=False)


def _named() -> set[str]:
    return {*st.query_params} & {*address.PARAMETERS} - {"lang"}


def leads_on() -> bool:
    """True if the start page's address is a link to a view, to be opened on another page.

    On the way from the start page to another one, Streamlit writes the parameters of that page into
    an address of the start page; who goes back to it wants the start page.
    """
    if not names_a_view() or names_the_stage():
        return False
    if _went_back_or_forward():
        store.put(LEFT, as_it_stands())
    left: dict[str, str] | None = store.get(LEFT, None)
    return as_it_stands() != left


def as_it_stands() -> dict[str, str]:
    """The parameters of the address, as they came."""
    return st.query_params.to_dict()


def n_runs() -> int:
    """The number of runs of the whole app in this session; runs of a fragment do not count."""
    count: int = store.get(RUNS, 0)
    return count


def n_reads() -> int:
    """The number of times that the address was read, or is to be read by new components."""
    count: int = store.get(READS, 0)
    return count


def mount_anew() -> None:
    """Have every component mount anew on the next run and read the address itself."""
    store.put(READS, n_reads() + 1)


def rejected() -> tuple[str, ...]:
    """The parameters of the last address that were replaced because they could not be used."""
    names: tuple[str, ...] = store.get(REJECTED, ())
    return names


def reject(*names: str) -> None:
    """Add parameters that only a page can tell to be unusable."""
    store.put(REJECTED, tuple(dict.fromkeys((*rejected(), *names))))


def _went_back_or_forward() -> bool:
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def is_embedded() -> bool:
    """True if the page shows its picture alone, without bar, title and explanations."""
    return bool(st.context.is_embedded)
