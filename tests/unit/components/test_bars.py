"""The bars: what travels, which texts they need, and that hostile names stay names."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.components import bars, bundle
from attnviz.components.bars import Bar, BarsView, Rest, pack_bars
from attnviz.components.buffer import unpack
from attnviz.components.heads import strings_of

VIEW = BarsView(
    title="Classes",
    bars=(
        Bar("red circle", 0.75, second=0.5, mark="drawn"),
        Bar("</script><img src=x onerror=alert(1)>", 0.125),
        Bar("שלום", 0.0625, muted=True),
    ),
    rest=Rest(count=5, value=0.0625),
    note="32 classes",
    values="now",
    seconds="before",
    full=0.75,
)


def test_a_buffer_holds_the_view() -> None:
    header, arrays = unpack(pack_bars(VIEW, {"rest": "others"}))
    assert not arrays
    assert header["strings"] == {"rest": "others"}
    assert header["bars"][0] == {
        "label": "red circle",
        "value": 0.75,
        "second": 0.5,
        "mark": "drawn",
        "muted": False,
    }
    assert [bar["label"] for bar in header["bars"]] == [bar.label for bar in VIEW.bars]
    assert header["rest"] == {"count": 5, "value": 0.0625}
    assert (header["values"], header["seconds"], header["full"]) == ("now", "before", 0.75)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        pack_bars(BarsView("x", (Bar("a", float("nan")),)), {})


def test_demo_json_is_the_header_that_travels() -> None:
    data = pack_bars(VIEW, strings_of(bars.STRING_KEYS, lambda key: key))
    demo = json.loads((bundle.FOLDER / "bars" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def app_of_bars() -> None:
    from attnviz.ui.host.components import show_bars

    show_bars(b"\0\0\0\0")


def test_the_component_mounts_with_its_bytes() -> None:
    ran = AppTest.from_function(app_of_bars).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == bars.NAME
    assert mounted.proto.bytes == b"\0\0\0\0"
