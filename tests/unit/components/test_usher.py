"""The wrapper of the usher: what travels."""

import json

from streamlit.testing.v1 import AppTest

from attnviz.components import bundle, usher
from attnviz.components.usher import UsherView

PROGRESS = '{"ask": {"answers": "roles=output", "card": "score"}}'
VIEW = UsherView(2, ("Card 1 of 2 · right", "Card 2 of 2"), PROGRESS)


def test_demo_json_is_the_header_that_travels() -> None:
    data = usher.pack_usher(VIEW)
    demo = json.loads((bundle.FOLDER / "usher" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def app() -> None:
    from attnviz.ui.host.components import show_usher

    show_usher(b"\0\0\0\0", "usher")


def test_it_mounts_with_its_bytes() -> None:
    ran = AppTest.from_function(app).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == usher.NAME
    assert mounted.proto.bytes == b"\0\0\0\0"
