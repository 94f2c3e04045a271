"""`head`, `heads`, `lines`, `steps`, `alignment`, `compare`: what is drawn; no label is cut."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
import torch
from PIL import Image

import attnviz
from attnviz import figures
from attnviz.errors import BadInput
from attnviz.figures import Drawing, ramp, text_width
from attnviz.figures.sheet import Matrix, Segment, Text
from attnviz.types import StepView, named_tokens
from tests.support import captures, hostile
from tests.support.cases import mostly_slow

JAPANESE = tuple("猫 は マット の 上 に 座っ て い まし た 。 なぜ なら 疲れ て".split())
ENGLISH = ("[CLS]", "the", "international", "cat", "sat", "on", "mat", ".")
SVG = "{http://www.w3.org/2000/svg}"


def weights(n_row: int, n_column: int | None = None, *lead: int) -> np.ndarray:
    chance = np.random.default_rng(n_row)
    scores = np.exp(2 * chance.normal(size=(*lead, n_row, n_column or n_row)))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def labels(n: int, words: tuple[str, ...] = ENGLISH) -> list[str]:
    return [words[at % len(words)] for at in range(n)]


DRAWINGS: dict[str, Callable[[tuple[str, ...], int], Drawing]] = {
    "head": lambda words, n: figures.head(weights(n), labels(n, words), title="A title " * 30),
    "wide head": lambda words, n: figures.head(weights(n), labels(n, words), width_in=6.75),
    "cross": lambda words, n: figures.head(weights(n, 5), labels(n, words), labels(5, words)),
    "heads": lambda words, n: figures.heads(weights(n, None, 3, 12), width_in=3.25),
    "lines": lambda words, n: figures.lines(weights(n), labels(n, words)),
    "alignment": lambda words, n: figures.alignment(
        weights(n, 3), labels(n, words), labels(3, words)
    ),
    "compare": lambda words, n: figures.compare(
        weights(n), weights(n)[::-1], labels(n, words), names=("stories", words[0])
    ),
    "steps": lambda words, n: figures.steps(step_views(), labels(7, words)),
}


def step_views() -> tuple[StepView, ...]:
    return attnviz.derive(captures.every_kind()["projections"].calls[0], 1).views()


def reach(text: Text) -> tuple[float, float, float, float]:
    """The box of a text in the widest font: left, top, right, bottom."""
    wide = text_width.width(text.text, text.size, text.bold)
    before = {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
    high, low = 0.8 * text.size, 0.25 * text.size
    if text.turned:  # upwards: what was to the right is above
        return text.x - high, text.y - wide + before, text.x + low, text.y + before
    return text.x - before, text.y - high, text.x - before + wide, text.y + low


@pytest.mark.parametrize("n", mostly_slow([2, 64, 16, 128], 2))
@pytest.mark.parametrize("words", [ENGLISH, JAPANESE, hostile.TOKENS], ids=["en", "ja", "hostile"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_no_text_leaves_the_sheet(name: str, words: tuple[str, ...], n: int) -> None:
    sheet = DRAWINGS[name](words, n).sheet
    assert sheet.texts
    for text in sheet.texts:
        left, top, right, bottom = reach(text)
        inside = left >= -0.01 and top >= -0.01 and right <= sheet.width + 0.01
        assert inside and bottom <= sheet.height + 0.01, (text, sheet.width, sheet.height)


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_svg_is_xml_and_hostile_tokens_are_text(name: str) -> None:
    drawing = DRAWINGS[name](hostile.TOKENS, 12)
    root = ET.fromstring(drawing.svg())
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= {"svg", "title", "rect", "text", "path", "image", "g"}
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts == [text.text for text in drawing.sheet.texts]
    for image in root.iter(f"{SVG}image"):
        assert image.attrib["href"].startswith("data:image/png;base64,")
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or "{" in name}
    assert not {"src", "style", "class", "xlink:href"} & attributes


@pytest.mark.parametrize("width_in", [3.25, 6.75])
def test_a_figure_is_as_wide_as_it_was_asked_to_be(width_in: float) -> None:
    root = ET.fromstring(figures.head(weights(7), labels(7), width_in=width_in).svg())
    assert float(root.attrib["width"].removesuffix("pt")) == 72 * width_in


def test_cells_have_the_colours_of_their_weights() -> None:
    """The picture in the SVG, and the same head as shapes, by the table of the screen."""
    matrix = weights(7)
    expected = ramp.table("light")[ramp.levels(matrix, "log")]
    root = ET.fromstring(figures.head(matrix, labels(7), scale="log").svg())
    picture = next(root.iter(f"{SVG}image")).attrib["href"].partition(",")[2]
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"))
    assert len(pixels) >= 1024
    middle = len(pixels) // 14
    np.testing.assert_array_equal(pixels[middle :: 2 * middle, middle :: 2 * middle], expected)
    shapes = ET.fromstring(figures.head(matrix, labels(7), scale="log", cells="vector").svg())
    drawn = np.zeros_like(expected)
    group = next(shapes.iter(f"{SVG}g"))
    for path in group.iter(f"{SVG}path"):
        for column, row, count in re.findall(r"M(\d+) (\d+)h(\d+)", path.attrib["d"]):
            start = int(column)
            drawn[int(row), start : start + int(count)] = ramp.rgb(path.attrib["fill"])
    np.testing.assert_array_equal(drawn, expected)


def test_a_head_of_128_tokens_is_small() -> None:
    assert len(figures.head(weights(128), labels(128)).svg()) <= 50_000


def test_tokens_and_tensors_are_taken() -> None:
    tokens = named_tokens(("[CLS]", "a", "b"), n_special=1)
    drawing = figures.head(torch.from_numpy(weights(3)).requires_grad_(), tokens)
    colours = {text.text: text.colour for text in drawing.sheet.texts}
    assert colours["[CLS]"] != colours["a"] == colours["b"]


def test_lines_keep_the_strongest_and_draw_them_last() -> None:
    matrix = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.0, 0.001, 0.999]], dtype=np.float32)
    marks = figures.lines(matrix, ["a", "b", "c"], top=2).sheet.marks
    drawn = [mark for mark in marks if isinstance(mark, Segment)]
    assert len(drawn) == 5  # two for each query, but for 0.001, which cannot be seen
    widths = [line.width for line in drawn]
    assert widths == sorted(widths)
    every = figures.alignment(matrix, ["a", "b", "c"], ["x", "y", "z"]).sheet.marks
    assert sum(isinstance(mark, Segment) for mark in every) == 7


def test_compare_draws_the_difference_and_leaves_out_what_one_side_lacks() -> None:
    first, second = weights(3), weights(3)[::-1].copy()
    first[1] = np.nan
    matrices = [
        mark.colours
        for mark in figures.compare(first, second, ["a", "b", "c"]).sheet.marks
        if isinstance(mark, Matrix) and len(mark.colours) == 3
    ]
    a, b, difference = matrices
    grey = ramp.rgb("#e2e4e2")
    assert (a[1] == grey).all() and (difference[1] == grey).all() and not (b[1] == grey).all()
    limit = float(np.nanmax(np.abs(second - first)))
    expected = ramp.table("diverging_light")[ramp.signed_levels(second - first, limit)]
    np.testing.assert_array_equal(difference[[0, 2]], expected[[0, 2]])


def test_steps_have_a_panel_for_each_stage() -> None:
    views = step_views()
    drawing = figures.steps(views, labels(7))
    titles = [text.text for text in drawing.sheet.texts if text.bold]
    assert " ".join(titles) == "X Q K V Q·Kᵀ ÷ √d + mask softmax ·V all heads ·W_O"
    errors = [text for text in drawing.sheet.texts if "ours" in text.text or "error" in text.text]
    assert len(errors) == sum(view.error is not None for view in views)


def test_heads_of_uneven_layers_are_drawn() -> None:
    layers = [weights(9, None, 3), weights(100, None, 6), weights(4, 16, 6)]
    (atlas, *_) = [mark for mark in figures.heads(layers).sheet.marks if isinstance(mark, Matrix)]
    assert atlas.colours.shape == (3 * 136 - 8, 6 * 136 - 8, 3)
    first = ramp.table("light")[ramp.levels(layers[0][1, 4], "sqrt")]
    row = atlas.colours[128 * 9 // 18, 136:264]
    np.testing.assert_array_equal(row[np.arange(9) * 128 // 9 + 7], first)
    pooled = layers[1][2].reshape(50, 2, 50, 2).max(axis=(1, 3))
    cell = ramp.table("light")[ramp.levels(pooled[0], "sqrt")]
    row = atlas.colours[136, 2 * 136 : 2 * 136 + 128]
    np.testing.assert_array_equal(row[np.arange(50) * 128 // 50 + 1], cell)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: figures.head(weights(3), ["a", "b"]), "tokens is 2 labels; give 3"),
    (lambda: figures.head(weights(3, 4), list("abc")), "key_tokens= as well"),
    (lambda: figures.head(weights(3, None, 2), list("abc")), "an array of 2 dimensions"),
    (lambda: figures.head("abc", list("abc")), "an array of 2 dimensions"),
    (lambda: figures.head(weights(3), list("abc"), width_in=0), "a number from 2 to 20"),
    (lambda: figures.head(weights(3), list("abc"), scale="cube"), "linear, sqrt, log"),  # type: ignore[typeddict-item]
    (lambda: figures.head(weights(3), list("abc"), colour="red"), "style is colour"),  # type: ignore[call-arg]
    (lambda: figures.head(weights(65), labels(65), cells="vector"), "'image' for more than 64"),
    (lambda: figures.head(weights(3), list("abc"), title=3), "title is int; give a text"),  # type: ignore[typeddict-item]
    (lambda: figures.heads(weights(3)), "an array of 4 dimensions"),
    (lambda: figures.heads(weights(2, None, 2, 90), width_in=3.25), "width_in is too narrow"),
    (lambda: figures.heads(weights(2, None, 2, 2), cells="vector"), "style is cells"),
    (lambda: figures.lines(weights(3), list("abc"), top=0), "a whole number from 1 on"),
    (lambda: figures.lines(weights(3), list("abc"), scale="log"), "style is scale"),
    (lambda: figures.compare(weights(3), weights(4), list("abc")), r"as first is"),
    (lambda: figures.steps([], list("abc")), "the views of attnviz.derive"),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message) as raised:
        draw()
    assert raised.value.code == "bad_argument"
