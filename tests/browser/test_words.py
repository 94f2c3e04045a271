"""Pieces joined into words on Head: axes, pieces, weights are the library's, words read right."""

import re

import pytest
from playwright.sync_api import expect

import attnviz
from attnviz.tokens.words import merged, words
from tests.browser.conftest import OpenVisit
from tests.support.browser import settle
from tests.support.canvas import cell_middle
from tests.support.visit import expect_data

CASES = [
    ("minilm", "Tokenization of unbelievable naïveté, 東京 🙂."),
    ("stories", "Unbelievably, 東京 👩\u200d👩\u200d👧 said Mary"),
]
LAYER, HEAD = 1, 2
NOTE_TEXTS = """() => {
    const draw = CanvasRenderingContext2D.prototype.fillText;
    window.drawn = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
        const at = this.getTransform();
        window.drawn.push([text, at.b === 0, at.f / at.d + y, this.textAlign]);
        return draw.call(this, text, x, y, ...more);
    };
}"""


@pytest.mark.some(1)
@pytest.mark.parametrize(("model", "text"), CASES)
def test_words_stand_on_the_axes_and_show_their_pieces(
    visit: OpenVisit, model: str, text: str
) -> None:
    lm = attnviz.load(model)
    capture = attnviz.capture(lm, text)
    found = words(capture.tokens, lm.text_tokenizer().convert_tokens_to_string)
    weights, n = merged(capture.weights(LAYER, HEAD), found, found), len(found)
    assert n < len(capture.tokens)
    opened = visit("head", text=text, model=model, layer=LAYER, head=HEAD)
    canvas, before = opened.canvas("Attention weights of"), len(opened.seen.sent)
    opened.page.get_by_label("Merge pieces into words").check()
    expect_data(canvas, words=1, rows=n, cols=n)
    opened.wait_for_parameters(words=1)
    query, key = n - 1, 1
    x, y = cell_middle(canvas, query, key, n, n)
    canvas.click(position={"x": x, "y": y})
    readout = opened.page.locator(".av-readout")
    expect(readout).to_contain_text(f"weight {weights[query, key]:.4f}")
    for place in (query, key):
        expect(readout).to_contain_text(found[place].text)
    opened.wait_for_parameters(query=found[query].start, key=found[key].start)
    word, pieces = found[key], opened.page.locator(".av-pieces-table td.av-number")
    row = capture.weights(LAYER, HEAD)[found[query].start : found[query].stop]
    expected = row[:, word.start : word.stop]
    expect(pieces).to_have_text([f"{weight:.4f}" for weight in expected.ravel()])
    assert expected.sum(1).mean() == pytest.approx(float(weights[query, key]), abs=1e-6)
    opened.page.keyboard.press("ArrowUp")
    expect_data(canvas, query=query - 1)
    assert opened.seen.sent[before:] == []


def test_right_to_left_words_read_right_and_keep_their_place(visit: OpenVisit) -> None:
    text = "Say שלום עולם and مرحبا now"
    names = ["[CLS]", "Say", "שלום", "עולם", "and", "مرحبا", "now", "[SEP]"]
    opened = visit("head", text=text, words=1, fresh=True)
    opened.page.add_init_script(f"({NOTE_TEXTS})()")
    opened.page.reload()
    settle(opened.page)
    expect_data(opened.canvas("Attention weights of"), words=1, rows=len(names))
    drawn: list[tuple[str, bool, float, str]] = opened.page.evaluate("() => window.drawn")
    rows = {label: y for label, flat, y, align in drawn if flat and align == "right"}
    shown = {re.sub("[\u2068\u2069]", "", label): y for label, y in rows.items()}
    assert [label for label in sorted(shown, key=lambda label: shown[label]) if label in names] == (
        names
    )
    for name in ("שלום", "עולם", "مرحبا"):
        assert f"\u2068{name}\u2069" in rows, name
