"""A model that listens, in a browser: a sound is uploaded, frames follow, rows look across."""

from playwright.sync_api import expect

from attnviz import sound
from attnviz.i18n import text
from attnviz.sound import Sound
from tests.browser.conftest import OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.visit import expect_data


def test_a_recording_is_heard(visit: OpenVisit, tiny_server: str, tiny: Tiny) -> None:
    page = visit("head", url=tiny_server, model=str(tiny("wav2vec2")))
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=59, cols=59)
    half = Sound(sound.sample(44_100).samples[:22_050], 44_100)
    file = {"name": "half.wav", "mimeType": "audio/wav", "buffer": half.wav()}
    page.page.locator('input[type="file"]').set_input_files([file])  # type: ignore[list-item]
    expect_data(heatmap, rows=24, cols=24)
    page.wait_for_parameters(sound="own")
    assert not accessibility_problems(page.page)


def test_words_look_at_times(visit: OpenVisit, tiny_server: str, tiny: Tiny) -> None:
    page = visit("head", url=tiny_server, model=str(tiny("whisper")))
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=100, cols=100)
    page.page.get_by_role("radio", name=text("en", "attention.decoder_cross")).click()
    expect_data(heatmap, rows=25, cols=100)  # the start token and 24 written
    heatmap.focus()
    page.page.keyboard.press("ArrowDown")
    expect_data(heatmap, query=0, key=0)
    expect(page.page.get_by_role("status").filter(has_text="0.00 s")).to_be_visible()
