"""What runs again after a widget has changed the view: what the page that is shown has drawn."""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.fragment import MemoryFragmentStorage

from attnviz.app.bar.navigation import NAVIGATION, renew
from attnviz.app.session import address_bar, widgets


def test_a_widget_of_the_page_before_renews_the_links_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its fragment has gone with its page; Streamlit refuses to run it again."""
    drawn = MemoryFragmentStorage()
    for name in ("lens", NAVIGATION):
        drawn.register(f"id of {name}", lambda: None, target_key=name)
    context = SimpleNamespace(fragment_ids_this_run=["any"], fragment_storage=drawn)
    again: list[list[str]] = []
    monkeypatch.setattr(widgets, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(address_bar, "write", lambda: None)
    monkeypatch.setattr(st, "rerun", lambda names: again.append(drawn.resolve_target(names)))
    renew("lens")
    renew("head_links")
    assert again == [["id of lens", "id of navigation"], ["id of navigation"]]
