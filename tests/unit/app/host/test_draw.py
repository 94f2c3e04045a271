"""`draw` mounts every canvas with the bytes of its view, made once where they are kept."""

from collections.abc import Callable
from importlib import import_module

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.app.host import draw as host
from attnviz.app.host.draw import draw
from attnviz.pictures import save_image
from attnviz.pictures.shared import bundle
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import Canvas, packed


def page() -> None:
    from attnviz.app.host.draw import draw
    from attnviz.pictures import save_image

    draw(
        save_image.CANVAS,
        save_image.SaveImageView(("a text",)),
        "save_image",
        "ko",
        {"open": lambda sent: None},
    )


def test_draw_mounts_a_canvas_with_the_bytes_of_its_view() -> None:
    ran = AppTest.from_function(page).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == save_image.CANVAS.element
    assert mounted.proto.bytes == packed(
        save_image.CANVAS, save_image.SaveImageView(("a text",)), "ko"
    )
    assert "components.save_image" in mounted.proto.js_content


def test_draw_hands_on_what_the_browser_sent_under_an_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mounted: dict[str, Callable[[], None]] = {}
    monkeypatch.setattr(host, "_renderer", lambda *_: lambda data, key, **on: mounted.update(on))
    monkeypatch.setattr(st, "session_state", {"attnviz.component.camera": {"open": {"layer": 3}}})
    heard: list[object] = []
    on = {"open": heard.append, "close": heard.append}
    view = save_image.SaveImageView(())
    draw(save_image.CANVAS, view, "camera", "en", on, remounts=False)
    mounted["on_open_change"]()
    mounted["on_close_change"]()
    assert heard == [{"layer": 3}, None]


def page_of_a_kept_view() -> None:
    import streamlit as st

    from attnviz.app.host.draw import draw
    from attnviz.pictures import save_image

    def view() -> save_image.SaveImageView:
        st.session_state["made"] = st.session_state.get("made", 0) + 1
        return save_image.SaveImageView(("kept",))

    draw(save_image.CANVAS, view, "save_image", "en", kept="test_draw")
    draw(save_image.CANVAS, view, "save_image in Japanese", "ja", kept="test_draw")


def test_draw_makes_a_kept_view_once_for_each_language() -> None:
    ran = AppTest.from_function(page_of_a_kept_view).run().run()
    assert not ran.exception
    english, japanese = (unpack(each.proto.bytes)[0] for each in ran.get("bidi_component"))
    assert english["origin"] == japanese["origin"] == ["kept"]
    assert english["strings"]["save"] != japanese["strings"]["save"]
    assert ran.session_state["made"] == 2


def test_draw_refuses_to_keep_a_view_without_a_name() -> None:
    with pytest.raises(AssertionError, match="kept under a name"):
        draw(save_image.CANVAS, save_image.SaveImageView, "save_image", "en")


@pytest.mark.parametrize("name", bundle.component_names())
def test_every_folder_has_a_canvas_of_its_name(name: str) -> None:
    canvas = import_module(f"attnviz.pictures.{name}").CANVAS
    assert isinstance(canvas, Canvas) and canvas.name == name
