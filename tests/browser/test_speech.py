"""A model that listens, in a browser: a sound is uploaded, frames follow, rows look across."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from attnviz import sound
from attnviz.i18n import text
from attnviz.sound import Sound
from attnviz.ui import sources
from tests.browser.conftest import OpenVisit
from tests.support import folders
from tests.support.browser import accessibility_problems
from tests.support.server import serve
from tests.support.visit import expect_data


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that writes what it hears, and one that only hears."""
    root = tmp_path_factory.mktemp("models")
    for name in ("whisper", "wav2vec2"):
        folders.save(root / name, name)
    return root


@pytest.fixture(scope="module")
def speech_server(models: Path) -> Iterator[str]:
    """The app, with these models open to visitors."""
    with serve(env={sources.VARIABLE: str(models)}) as url:
        yield url


def test_a_recording_is_heard(visit: OpenVisit, speech_server: str, models: Path) -> None:
    page = visit("head", url=speech_server, model=str(models / "wav2vec2"))
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=59, cols=59)
    half = Sound(sound.sample(44_100).samples[:22_050], 44_100)
    file = {"name": "half.wav", "mimeType": "audio/wav", "buffer": half.wav()}
    page.page.locator('input[type="file"]').set_input_files([file])  # type: ignore[list-item]
    expect_data(heatmap, rows=24, cols=24)
    page.wait_for_parameters(sound="own")
    assert not accessibility_problems(page.page)


def test_words_look_at_times(visit: OpenVisit, speech_server: str, models: Path) -> None:
    page = visit("head", url=speech_server, model=str(models / "whisper"))
    heatmap = page.canvas("Attention weights of")
    expect_data(heatmap, rows=100, cols=100)
    page.page.get_by_role("radio", name=text("en", "attention.decoder_cross")).click()
    expect_data(heatmap, rows=25, cols=100)  # the start token and 24 written
    heatmap.focus()
    page.page.keyboard.press("ArrowDown")
    expect_data(heatmap, query=0, key=0)
    expect(page.page.get_by_role("status").filter(has_text="0.00 s")).to_be_visible()
