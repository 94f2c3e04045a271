"""A model that listens, in a browser: a sound is uploaded, frames follow, rows look across."""

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from attnviz.audio import sound
from attnviz.audio.sound import Sound
from attnviz.i18n import text
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.canvas import pixels
from tests.support.visit import data, expect_data
from tests.support.waiting import eventually


def test_a_recording_is_heard(visit: OpenVisit, tiny: Tiny) -> None:
    page = visit("head", model=str(tiny("wav2vec2")))
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=59, cols=59)
    half = Sound(sound.sample(44_100).samples[:22_050], 44_100)
    file = {"name": "half.wav", "mimeType": "audio/wav", "buffer": half.wav()}
    page.open_menu("media")
    page.page.locator('input[type="file"]').first.set_input_files([file])  # type: ignore[list-item]
    expect_data(heatmap, rows=24, cols=24)
    page.wait_for_parameters(sound="own")
    assert not accessibility_problems(page.page)


@pytest.mark.slow
def test_words_look_at_times(visit: OpenVisit, tiny: Tiny) -> None:
    page = visit("head", model=str(tiny("whisper")))
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=100, cols=100)
    page.page.get_by_role("radio", name=text("en", "attention.decoder_cross")).click()
    # the start token and 24 written; by its whole name, as the old canvas may stay for a moment
    heatmap = page.canvas("Attention weights of L0.H0: 25 queries")
    expect_data(heatmap, rows=25, cols=100)
    heatmap.focus()
    page.page.keyboard.press("ArrowDown")
    expect_data(heatmap, query=0, key=0)
    expect(page.page.locator(".av-readout")).to_contain_text("0.00 s")


def beep() -> Sound:
    """Half a second of silence, a tenth of a tone, half a second of silence."""
    at = np.arange(17_600) / 16_000
    tone = np.where((at >= 0.5) & (at < 0.6), np.sin(2 * np.pi * 2000 * at), 0.0)
    return Sound(tone.astype(np.float32), 16_000)


def band(heatmap: Locator) -> list[tuple[float, float]]:
    """Points of the spectrogram at 2 of 4 kHz, the middle of each of the 54 columns."""
    place = {name: float(data(heatmap)[name]) for name in ("x", "w", "heard")}
    return [
        (place["x"] + (at + 0.5) * place["w"] / 54, place["heard"] + 12 + 28) for at in range(54)
    ]


def check_spectrogram(heatmap: Locator) -> None:
    ground, *_ = found = pixels(heatmap, band(heatmap))
    marked = [at for at, colour in enumerate(found) if colour != ground]
    assert {25, 26, 27, 28, 29} <= set(marked) <= set(range(24, 31))  # 0.50 s to 0.60 s


@pytest.mark.slow
def test_the_spectrogram_stands_under_its_columns(visit: OpenVisit, tiny: Tiny) -> None:
    page = visit("head", model=str(tiny("wav2vec2")))
    file = {"name": "beep.wav", "mimeType": "audio/wav", "buffer": beep().wav()}
    page.open_menu("media")
    page.page.locator('input[type="file"]').first.set_input_files([file])  # type: ignore[list-item]
    page.wait_for_parameters(sound="own")
    page.open_menu("media", wanted=False)  # it lies on the picture
    heatmap = page.canvas("Attention weights of")
    for width in (1440, 1024):
        page.page.set_viewport_size({"width": width, "height": 1000})
        page.page.mouse.move(0, 0)
        expect_data(heatmap, rows=54, cols=54)
        eventually(lambda: check_spectrogram(heatmap))
        row = band(heatmap)
        (ground,) = pixels(heatmap, [row[40]])
        heatmap.hover(position={"x": row[40][0], "y": row[40][1]})
        page.wait_until(lambda: pixels(heatmap, [row[40]]) != [ground])  # noqa: B023


@pytest.mark.slow
def test_steps_say_that_q_was_scaled_before(visit: OpenVisit, tiny: Tiny) -> None:
    where = {"model": str(tiny("whisper")), "layer": "1", "head": "1", "query": "2", "key": "1"}
    page = visit("steps", **where).page
    queries, scaled = (page.locator(f'.panel[data-stage="{of}"]') for of in ("q", "scaled"))
    factor = "sQ = 0.3536 = 1 ÷ √dk"  # heads are 8 wide
    expect(queries.locator(".note")).to_have_text(factor)
    expect(queries.locator(".operator")).to_have_text("sQ·X·WQ")
    expect(queries.locator(".badge")).to_have_attribute("data-ok", "true")
    expect(scaled.locator(".operator")).to_have_text("× 1")
    said = text("en", "component.steps.scaled_before", factors=factor)
    expect(scaled.locator(".note")).to_have_text(said)
    card = page.locator('[data-sum="scaled"]')
    expect(card).to_contain_text(said)
    title = card.locator(".step-head span").first
    expect(title).to_have_text(text("en", "component.steps.step_scaled_by", scaling="1"))
