"""`Drawing.save` and `draw`: PDF, PNG and EPS by matplotlib, with the fonts in the file."""

import io
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from attnviz import figures
from attnviz.errors import BadInput, MissingExtra
from attnviz.figures import Drawing
from attnviz.figures.sheet import Matrix
from tests.support import hostile

LETTERS = ("The", "cat's", "$x^2$", "<b>")  # those that the first font has
SIGNS = (*hostile.TOKENS[:11], "猫は", "고양이", "$x^2$", "🙂")


def drawing(signs: tuple[str, ...] = SIGNS) -> Drawing:
    n = len(signs)
    matrix = np.random.default_rng(1).dirichlet(np.ones(n), n).astype(np.float32)
    return figures.head(matrix, signs, title=f"{signs[-2]} $x$ </title>")


def unpacked(pdf: bytes) -> bytes:
    """A PDF with its streams unpacked."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, flags=re.DOTALL)
    return pdf + b"".join(zlib.decompress(s) for s in streams if s[:1] == b"x")


def test_a_pdf_has_its_fonts_in_it_and_its_size() -> None:
    pdf = unpacked(drawing().content(".pdf"))
    assert pdf.startswith(b"%PDF")
    assert re.search(rb"/FontFile[23]", pdf)
    assert b"/Subtype /Type3" not in pdf
    fonts = len(re.findall(rb"/Type /FontDescriptor", pdf))
    assert fonts == len(re.findall(rb"/FontFile[23]?\b", pdf)) > 0
    (width,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+)", pdf)
    assert float(width) == pytest.approx(234)


@pytest.mark.slow
def test_equal_figures_give_equal_pdfs() -> None:
    assert drawing(LETTERS).content(".pdf") == drawing(LETTERS).content(".pdf")


def test_a_png_shows_the_cells() -> None:
    picture = np.asarray(Image.open(io.BytesIO(drawing().content(".png"))).convert("RGB"))
    assert picture.shape[1] == pytest.approx(3.25 * 300, abs=1)
    colours = {tuple(colour) for colour in picture.reshape(-1, 3).tolist()}
    cells = next(mark for mark in drawing().sheet.marks if isinstance(mark, Matrix))
    wanted = {tuple(colour) for colour in cells.colours.reshape(-1, 3).tolist()}
    assert len(wanted) > 50 and wanted <= colours


# matplotlib takes most of a minute to put a font of Chinese and Korean letters into an EPS file
@pytest.mark.slow
@pytest.mark.parametrize("signs", [LETTERS, pytest.param(SIGNS, marks=pytest.mark.slow)], ids=len)
def test_an_eps_is_postscript_without_transparency(signs: tuple[str, ...]) -> None:
    eps = drawing(signs).content(".eps")
    assert eps.startswith(b"%!PS-Adobe-3.0 EPSF")
    assert b"%%BoundingBox" in eps


@pytest.mark.slow
def test_every_figure_is_printed(tmp_path: Path) -> None:
    square = np.eye(5, dtype=np.float32)
    for number, figure in enumerate(
        (
            figures.head(square, list("abcde")),
            figures.head(square, list("abcde"), cells="vector"),
            figures.lines(square, list("abcde")),
            figures.heads(np.stack([np.stack([square] * 3)] * 2)),
            figures.compare(square, square[::-1], list("abcde")),
        )
    ):
        for ending in (".pdf", ".png", ".eps", ".SVG"):
            path = figure.save(tmp_path / f"{number}{ending}")
            assert path.stat().st_size > 1000


def test_a_figure_is_drawn_on_an_axes() -> None:
    from matplotlib.figure import Figure

    whole = Figure(figsize=(6, 6))
    ax = whole.add_subplot()
    drawing().draw(ax)
    labels = [text.get_text() for text in ax.texts]
    assert "{query}" in labels and len(ax.images) == 2
    assert ax.get_ylim() == (drawing().sheet.height, 0)


def test_another_ending_is_refused(tmp_path: Path) -> None:
    for name in ("x.gif", "x"):
        with pytest.raises(BadInput, match=r"\.svg, \.pdf, \.png, \.eps"):
            drawing().save(tmp_path / name)
    with pytest.raises(BadInput, match="cannot write"):
        drawing().save(tmp_path / "gone" / "x.svg")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"attnviz\[paper\]"):
        drawing().content(".pdf")
    assert drawing().svg().startswith("<svg")
