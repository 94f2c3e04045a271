"""The wrapper of the listener: what travels."""

import json

from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.components import bundle, listener
from attnviz.components.heads import strings_of
from attnviz.components.listener import ListenerView

CHOSEN = {"layer": 5, "head": 11, "query": 2, "key": None}
VIEW = ListenerView("class", "K7Q-M2X", "seat", "stage", 3, CHOSEN)


def test_demo_json_is_the_header_that_travels() -> None:
    strings = strings_of(listener.STRING_KEYS, lambda key: key.removeprefix("component."))
    data = listener.pack_listener(VIEW, strings)
    demo = json.loads((bundle.FOLDER / "listener" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def test_its_texts_exist() -> None:
    assert all(i18n.has(f"component.{key}") for key in listener.STRING_KEYS)


def app() -> None:
    from attnviz.ui.host.components import show_listener

    show_listener(b"\0\0\0\0", "ear", lambda: None)


def test_it_mounts_with_its_bytes() -> None:
    ran = AppTest.from_function(app).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == listener.NAME
    assert mounted.proto.bytes == b"\0\0\0\0"
