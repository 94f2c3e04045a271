"""The miniatures as they come with the package, measured beforehand.

In: measured.json, which `python -m scripts.write_gallery` writes, weights with four decimals. Out:
a `GalleryView`.
"""

from pathlib import Path

from attnviz.pictures.gallery import GalleryView
from attnviz.pictures.shared import stored

PLACE = Path(__file__).with_name("measured.json")
DECIMALS = 4


def gallery() -> GalleryView:
    """The stored miniatures."""
    return stored.read(GalleryView, PLACE.read_text(encoding="utf-8"))


def as_text(view: GalleryView) -> str:
    """The miniatures as JSON."""
    return stored.as_text(view, DECIMALS)
