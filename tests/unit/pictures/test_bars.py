"""The bars: what travels, which texts they need, and that hostile names stay names."""

import pytest

from attnviz.pictures import bars
from attnviz.pictures.bars import BarsView, Rest
from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed

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
    header, arrays = unpack(packed(bars.CANVAS, VIEW, "en"))
    assert not arrays
    assert "rest" in header["strings"]
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
        packed(bars.CANVAS, BarsView("x", (Bar("a", float("nan")),)), "en")
