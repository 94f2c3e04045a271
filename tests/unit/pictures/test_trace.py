"""The drawing calls that components make, held against those that a saved picture writes down."""

import re

import pytest

from attnviz.pictures.shared import bundle

# the ones that draw, or build what is drawn, in the interface of a canvas
DRAWING = set(
    "arc arcTo bezierCurveTo clearRect clip closePath drawImage ellipse fill fillRect fillText"
    " lineTo moveTo putImageData quadraticCurveTo rect roundRect stroke strokeRect strokeText"
    " beginPath".split()
)
CALL = re.compile(r"\b(?:ctx|context|brush)\.(\w+)\(")


def calls(source: str) -> set[str]:
    """The drawing calls in a module."""
    return set(CALL.findall(source)) & DRAWING


def traced() -> set[str]:
    """The calls that trace.js writes down."""
    source = (bundle.FOLDER / "shared" / "trace.js").read_text(encoding="utf-8")
    return set(re.findall(r"^    (\w+)(?::|\()", source, re.MULTILINE)) & DRAWING


def test_calls_finds_what_is_drawn() -> None:
    assert calls("ctx.ellipse(a); ctx.save(); other.fill()") == {"ellipse"}
    assert "ellipse" not in traced() and "fillText" in traced()


@pytest.mark.parametrize(
    "name", sorted(f"{path.parent.name}/{path.name}" for path in bundle.FOLDER.glob("*/*.js"))
)
def test_every_drawing_call_is_traced(name: str) -> None:
    source = (bundle.FOLDER / name).read_text(encoding="utf-8")
    assert calls(source) <= traced()
    assert "new Path2D(" not in source  # which does not know its own text: shared/path.js does
