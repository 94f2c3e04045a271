"""Texts that are too long for whole matrices: tiles on Head, plain words elsewhere, a file to read.

The model has 2 layers of 3 heads and positions for 16,384 tokens; its words are its tokens.
"""

import itertools
import random
import threading
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n, tiles
from attnviz.app.session import address, widgets
from attnviz.app.session.uploads import MAX_TEXT_BYTES, TextFile
from attnviz.attention.call import AttentionCall
from attnviz.errors import Cancelled
from attnviz.pictures.group.groups import MAX_CELLS, MAX_WHOLE, groups, size_of
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import (
    Visit,
    beside_bar,
    component_name,
    is_typed,
    parameters,
    sent,
    strip,
    tell,
    type_text,
)
from tests.support.folders import WORDS
from tests.support.waiting import eventually, expect_equal

Tiny = Callable[[str], str]
KEY = widgets.key
N = 3001
COUNT = itertools.count()


def long_text(n: int = N) -> str:
    """A text of so many words that no test has asked for before."""
    return " ".join(random.Random(next(COUNT)).choices(WORDS[6:], k=n))


@pytest.fixture
def visit_long(visit: Visit, tiny: Tiny) -> Callable[..., AppTest]:
    """A function that opens a page on a long text, as after an upload."""

    def opened(page: str, text: str, **options: str) -> AppTest:
        app = visit(page, model=tiny("long"), text="the cat", **options)
        app.session_state["attnviz.text_file"] = TextFile("book.txt", text)
        app.session_state["attnviz.view"] = address.changed(
            app.session_state["attnviz.view"], {"file": True}
        )
        return app.run()

    return opened


def finished(app: AppTest) -> AppTest:
    """The page once the head is built; a browser asks again by itself, AppTest does not."""

    def check() -> None:
        if app.get("progress") or not sent(app)[0]["ready"]:
            app.run()
        assert not app.get("progress") and sent(app)[0]["ready"]

    eventually(check)
    return app


def test_head_shows_tiles_of_the_librarys_weights(
    visit_long: Callable[..., AppTest], tiny: Tiny
) -> None:
    text = long_text()
    app = finished(visit_long("head", text, layer="1", head="2"))
    assert component_name(app) == "attnviz.tiles"
    header, arrays = sent(app)
    assert (header["layer"], header["head"], header["top"]) == (1, 2, 4)
    assert header["axes"]["tokens"] == text.split()
    call = attnviz.capture(attnviz.load(tiny("long")), text).call(1)
    pyramid = tiles.build(call, 2)
    assert set(arrays) == {"4/0/0", "3/0/0", "3/1/0", "3/1/1"}
    assert header["empty"] == [[3, 0, 1]]  # all of it lies in the future
    for name, codes in arrays.items():
        np.testing.assert_array_equal(codes, pyramid.tile(*map(int, name.split("/"))))
    cells = tiles.strongest(pyramid, len(header["cells"]), diagonal=header["distance"] - 1)
    expected = [[cell.query, cell.key, pytest.approx(cell.weight)] for cell in cells]
    assert header["cells"] == expected
    weights = call.weights(2).numpy()
    query, key, weight = header["cells"][0]
    assert weight == pytest.approx(weights[query, key], abs=1e-6)
    assert not app.error


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_overview_says_its_limit_and_the_way_to_head(
    visit_long: Callable[..., AppTest], lang: i18n.Language
) -> None:
    app = visit_long("overview", long_text(), lang=lang)
    said = i18n.text(lang, "long.all_heads", tokens=3001, cells=54, longest=2048, limit=403)
    assert [each.value for each in app.info] == [said]
    assert not beside_bar(app) and not app.error
    (button,) = [each for each in app.main.button if each.label == i18n.text(lang, "long.link")]
    button.click().run()
    assert not app.exception and "tiles" in component_name(app)


@pytest.mark.slow
def test_masks_derives_no_whole_head_of_a_long_text(
    visit_long: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps of one head of 12,000 tokens, or a capture of as many, would take 2 GiB."""
    derived = list[int]()
    derive = attnviz.derive

    def counted(call: AttentionCall, head: int, batch: int = 0) -> object:
        derived.append(call.n_query)
        return derive(call, head, batch)

    monkeypatch.setattr(attnviz, "derive", counted)
    app = visit_long("masks", long_text())
    assert not app.exception and N not in derived
    short = visit_long("masks", "the cat sat on the mat")
    assert not short.exception and derived


@pytest.mark.some(1)
@pytest.mark.parametrize("page", ["steps", "masks"])
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_steps_and_masks_say_their_limit(
    visit_long: Callable[..., AppTest], page: str, lang: i18n.Language
) -> None:
    app = visit_long(page, long_text(), lang=lang)
    tokens, limit = (i18n.numbers.local(lang, number) for number in ("3,001", "2,048"))
    said = i18n.text(lang, "long.matrices", tokens=tokens, limit=limit)
    assert [each.value for each in app.info] == [said]
    assert not beside_bar(app) and not app.error


def test_what_fits_is_shown_as_before(visit_long: Callable[..., AppTest]) -> None:
    app = visit_long("head", long_text(50))
    assert component_name(app) == "attnviz.head"


def test_the_limits_of_a_group(tiny: Tiny) -> None:
    lm = attnviz.load(tiny("long"))
    [short] = map(size_of, groups(attnviz.capture(lm, long_text(MAX_WHOLE))))
    assert short.whole and short.n_cells == 6 * MAX_WHOLE**2 < MAX_CELLS and short.all_at_once
    [longer] = map(size_of, groups(attnviz.capture(lm, long_text(MAX_WHOLE + 1))))
    assert not longer.whole and not longer.all_at_once


class Held:
    """Stands in for the library's build until it is let go."""

    def __init__(self) -> None:
        self.go, self.original = threading.Event(), tiles.build

    def build(self, call: object, head: int, **options: object) -> object:
        progress, cancel = options["progress"], options["cancel"]
        assert callable(progress) and isinstance(cancel, threading.Event)
        progress(0.4)
        while not self.go.wait(0.01):
            if cancel.is_set():
                raise Cancelled("stopped", code="cancelled")
        return self.original(call, head)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_progress_cancel_and_again(
    visit_long: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, lang: i18n.Language
) -> None:
    held = Held()
    monkeypatch.setattr(tiles, "build", held.build)
    app = visit_long("head", long_text(), lang=lang)
    expect_equal(lambda: [bar.proto.value for bar in app.run().get("progress")], [34])
    [bar] = app.get("progress")  # 0.4 of the 0.85 that building takes
    assert bar.proto.text == i18n.text(lang, "tiles.building", head="L0.H0", percent="34")
    assert sent(app)[0]["ready"] == 0
    app = app.button(KEY("tiles.cancel")).click().run()
    assert not app.get("progress")
    said = i18n.text(lang, "tiles.stopped", head="L0.H0")
    assert [each.value for each in app.info] == [said]
    assert sent(app)[0]["ready"] == 0
    held.go.set()
    app = finished(app.button(KEY("tiles.again")).click().run())
    assert not app.info and sent(app)[0]["ready"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", ["overview", "head", "steps", "masks"])
def test_an_address_without_its_file(
    visit: Visit, tiny: Tiny, page: str, lang: i18n.Language
) -> None:
    app = visit(page, lang=lang, file="1", text="The cat sat.")
    assert app.subheader[0].value == i18n.text(lang, "empty.file_title")
    assert not beside_bar(app) and not app.error
    app = app.button(KEY("start.box")).click().run()
    assert "file" not in parameters(app)
    assert "cat" in str(sent(app)[0]["tokens"])


def test_a_file_is_uploaded_read_and_left(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", model=tiny("long"), text="the cat")
    text = "a dog sat and **slept**"
    app.file_uploader[0].set_value(("my *book*.txt", text.encode(), "text/plain")).run()
    assert parameters(app)["file"] == "1"
    assert parameters(app)["text"] == "the cat"  # the file itself is no part of the address
    assert sent(app)[0]["tokens"][:4] == ["a", "dog", "sat", "and"]
    header, _ = unpack(strip(app).proto.bytes)
    said = i18n.text("en", "strip.file", name="my *book*.txt", characters="23")
    assert header["source"] == said and not is_typed(app)
    tell(app, strip(app), "close", True)
    assert sent(app)[0]["tokens"] == ["the", "cat"]
    assert "file" not in parameters(app)


@pytest.mark.slow
def test_a_text_too_long_for_the_box_is_read_as_a_file(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", model=tiny("long"), text="the cat")
    pasted = "a dog sat and slept " * 400
    type_text(app, pasted)
    assert not app.error
    assert parameters(app)["file"] == "1" and parameters(app)["text"] == "the cat"
    assert sent(app)[0]["n_query"] == 2000
    tell(app, strip(app), "close", True)
    assert sent(app)[0]["tokens"] == ["the", "cat"]
    type_text(app, "a" * (MAX_TEXT_BYTES + 1))
    assert "1,024 KiB" in app.error[0].value


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_file_that_is_no_text(visit: Visit, lang: i18n.Language) -> None:
    app = visit("head", lang=lang, text="The cat sat.")
    app.file_uploader[0].set_value(("a.txt", b"ab\xff", "text/plain")).run()
    assert [each.value for each in app.error] == [i18n.text(lang, "error.bad_text_file", place=2)]
    assert "cat" in sent(app)[0]["tokens"]
    app.file_uploader[0].set_value(("a.txt", b"a" * (MAX_TEXT_BYTES + 1), "text/plain")).run()
    said = i18n.text(lang, "error.text_file_too_large", found=1025, limit=1024, unit="KiB")
    assert [each.value for each in app.error] == [said]


@pytest.mark.slow
def test_a_file_longer_than_the_model_reads_can_be_cut(visit: Visit) -> None:
    app = visit("overview", text="The cat sat.")
    app.file_uploader[0].set_value(("a.txt", b"cat " * 600, "text/plain")).run()
    app = app.button(KEY("way_out.too_many_tokens")).click().run()
    assert not app.error and parameters(app)["cut"] == "1"
    assert len(sent(app)[0]["tokens"]) == 512
