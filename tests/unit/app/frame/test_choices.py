"""`take_chosen` takes what makes sense; then what the page that is shown has drawn runs again."""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.fragment import MemoryFragmentStorage

from attnviz.app.bar.navigation import NAVIGATION
from attnviz.app.frame import choices
from attnviz.app.frame.choices import renew
from attnviz.app.session import address_bar, current, widgets


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


@pytest.mark.parametrize(
    ("name", "raw", "taken"),
    [
        ("links", True, [{"links": True}]),
        ("links", False, [{"links": False}]),
        ("stage", "v", [{"stage": "v"}]),
        ("stage", "no stage", []),
        ("text_b", "a\ud800b", [{"text_b": "a\ufffdb"}]),
    ],
)
def test_take_chosen_takes_what_the_parameter_may_be(
    monkeypatch: pytest.MonkeyPatch, name: str, raw: object, taken: list[dict[str, object]]
) -> None:
    given: list[dict[str, object]] = []
    monkeypatch.setattr(widgets, "value", lambda widget: raw if widget == "box" else None)
    monkeypatch.setattr(current, "take", given.append)
    monkeypatch.setattr(choices, "renew", lambda *fragments: None)
    choices.take_chosen(name, "box", "fragment")
    assert given == taken
