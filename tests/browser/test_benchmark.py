"""The benchmark's stopwatch: it sees a slow paint, a wrong picture, and a message to the server."""

import pytest

from attnviz.models.loaded_model import LoadedModel
from benchmarks import browser as bench
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Palette
from tests.support.cases import mostly_slow

TEXT = "The animal didn't cross the street because it was too tired."
PAINT_MS = 150
SLOW_PAINT = f"""() => {{
    const paint = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (...args) {{
        const end = performance.now() + {PAINT_MS};
        while (performance.now() < end);
        CanvasRenderingContext2D.prototype.drawImage = paint;
        return paint.apply(this, args);
    }};
}}"""


@pytest.mark.slow
@pytest.mark.parametrize("path", mostly_slow(["head", ""], 1))
def test_a_head_switch_is_timed_and_right(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette], path: str
) -> None:
    opened = visit(path, text=TEXT, layer=0, head=0)
    result = bench.head_switch(opened, minilm, TEXT, palettes["light"], rounds=2)
    assert result.wrong is None
    assert len(result.samples) == 2
    assert min(result.samples) > 0


@pytest.mark.slow
def test_a_slow_paint_is_seen(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    opened = visit("head", text=TEXT, layer=0, head=0)
    opened.page.evaluate(SLOW_PAINT)
    result = bench.head_switch(opened, minilm, TEXT, palettes["light"], rounds=1)
    assert result.samples[0] > PAINT_MS


@pytest.mark.slow
def test_a_wrong_picture_is_seen(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    opened = visit("head", text=TEXT, layer=0, head=0)
    result = bench.head_switch(opened, minilm, TEXT, palettes["dark"], rounds=1)
    assert result.wrong is not None
    assert "wrong colour" in result.wrong


@pytest.mark.slow
def test_a_message_to_the_server_is_seen(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    opened = visit("head", text=TEXT, layer=0, head=0)
    before = len(opened.seen.sent)
    opened.page.evaluate("() => addEventListener('keyup', () => dispatchEvent(new Event('blur')))")
    result = bench.head_switch(opened, minilm, TEXT, palettes["light"], rounds=3)
    opened.wait_until(lambda: len(opened.seen.sent) > before)
    assert result.wrong is not None
    assert "messages went to the server" in result.wrong


@pytest.mark.slow
def test_a_new_text_is_timed_and_right(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    result = bench.new_text(
        visit("overview", layer=0, head=0), minilm, 16, palettes["light"], rounds=1
    )
    assert result.wrong is None
    assert min(result.samples) > 16  # a capture and a frame take longer than this
