"""The miniatures as they come with the package, measured beforehand.

In: measured.json, which `python -m scripts.write_gallery` writes. Out: a `GalleryView`. Arrays are
nested lists, weights with four decimals.
"""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from attnviz.pictures.gallery import Birth, GalleryView, Lines, PictureRead, Story

PLACE = Path(__file__).with_name("measured.json")
DECIMALS = 4
Miniature = TypeVar("Miniature")


def gallery() -> GalleryView:
    """The stored miniatures."""
    stored = json.loads(PLACE.read_text(encoding="utf-8"))
    return GalleryView(
        _read(Lines, stored["translator"]),
        _read(PictureRead, stored["picture"], pixels=np.uint8),
        _read(Story, stored["story"]),
        _read(Birth, stored["birth"]),
    )


def as_text(view: GalleryView) -> str:
    """The miniatures as JSON."""
    parts = {field.name: vars(getattr(view, field.name)) for field in fields(view)}
    return json.dumps(parts, default=_listed, ensure_ascii=False, separators=(",", ":")) + "\n"


def _listed(array: np.ndarray) -> object:
    return np.round(array.astype(float), DECIMALS).tolist()


def _read(kind: type[Miniature], stored: dict[str, Any], **dtypes: Any) -> Miniature:
    """A miniature of its stored fields: lists of numbers are arrays, of words or steps tuples."""
    return kind(**{name: _value(name, value, dtypes) for name, value in stored.items()})


def _value(name: str, value: Any, dtypes: dict[str, Any]) -> Any:
    if not isinstance(value, list):
        return value
    is_array = name in ("weights", "scores", *dtypes)
    return np.array(value, dtypes.get(name, np.float32)) if is_array else tuple(value)
