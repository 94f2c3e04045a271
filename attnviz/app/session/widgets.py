"""Keys and values of widgets and components, and which fragments run again.

In: a widget's name. Out: its session key, after telling the widget what to show; what a visitor or
a component put into it. No widget holds a value of its own.
"""

from collections.abc import Mapping
from typing import Any

from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from attnviz.app.session import address_bar, current, store

RERUN = "again"  # fragments that the page wants to run again after each choice in a picture


def key(name: str) -> str:
    """The session key of a widget."""
    return f"{store.PREFIX}{_name(name)}"


def class_name(name: str) -> str:
    """The class that Streamlit gives the element of a widget."""
    return f"st-key-{key(name)}".replace(".", "-")


def value(name: str) -> Any:
    """The value that the visitor has put into a widget; None for nothing."""
    return store.get(_name(name))


def showing(name: str, shown: object) -> str:
    """The key of a widget, after having it show a value on its next appearance.

    Options in another language are another widget to the browser, which has to be told anew; so is
    a widget that was not there in the last run: Streamlit keeps what it was told in a run that
    ended early, the browser has forgotten it. The same name in the file of another page is another
    widget, too, which starts with nothing.
    """
    file = "" if get_script_run_ctx() is None else ThreadState.get().active_script_hash
    now = (address_bar.n_runs(), current.language(), file)
    run, *others = store.get(f"told.{name}", now)
    is_current = store.has(_name(name)) and others == [*now[1:]] and run >= now[0] - 1
    if not is_current or value(name) != shown:
        store.put(_name(name), shown)
    store.put(f"told.{name}", now)
    return key(name)


def component_key(name: str, *, remounts: bool = True) -> str:
    """The session key of a component; if it `remounts`, a new one each time the address was read.

    Under a new key the component mounts anew and reads the address itself.
    """
    key = f"{store.PREFIX}component.{name}"
    return f"{key}.{address_bar.n_reads()}" if remounts else key


def component_value(component: str, name: str) -> object:
    """The value that a component has sent under a name; anything, None for nothing."""
    sent = store.get(component.removeprefix(store.PREFIX))
    return sent.get(name) if isinstance(sent, Mapping) else None


def only_a_fragment_runs() -> bool:
    """True if this run was asked for by a component alone, not by a change of page or text."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def is_on_page(fragment: str) -> bool:
    """True if the page that is shown has drawn a fragment of this name, which can run again."""
    context = get_script_run_ctx()
    try:
        return context is not None and bool(context.fragment_storage.resolve_target(fragment))
    except StreamlitAPIException:
        return False


def rerun_too(fragment: str) -> None:
    """Have a fragment run again after each choice in a picture of this page."""
    if fragment not in rerun_with_page():
        store.put(RERUN, (*rerun_with_page(), fragment))


def rerun_with_page() -> tuple[str, ...]:
    """The fragments that the page wants to run again after each choice in a picture."""
    fragments: tuple[str, ...] = store.get(RERUN) or ()
    return fragments


def _name(name: str) -> str:
    return f"widget.{name}"
