"""The shelf of the lessons: their levels, and the picture of each, with the numbers of a card.

In: the recipes. Out: `LEVELS`, and a `LessonStill` for each lesson: a film, matrices or lines of
one of its cards. They come with the package, as shelf.json, which `python -m scripts.write_gallery`
writes: nobody waits for a model to see the shelf. A test computes them again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.board import Board
from attnviz.pictures.motion import FilmName, Motion
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import Chart, Picture
from attnviz.teach.lessons.cards.versions import ExampleWord

Level = Literal["first", "inside", "deeper"]
LEVELS: Mapping[Level, tuple[str, ...]] = {
    "first": ("where", "ask", "block", "scale", "masks"),
    "inside": ("direction", "heads", "positions", "places", "patches", "real"),
    "deeper": ("claims", "birth", "code", "errata", "cost"),
}
# the card whose picture stands for the lesson, and the place of that picture among all it shows
PICTURES: Mapping[str, tuple[str, int]] = {
    "where": ("vectors", 0),
    "ask": ("turn", 0),
    "block": ("products", 0),
    "scale": ("temperature", -1),
    "masks": ("added", -1),
    "direction": ("together", 0),
    "heads": ("views", -1),
    "positions": ("shuffle", -1),
    "places": ("align", -1),
    "patches": ("cut", -1),
    "real": ("same", 0),
    "claims": ("explains", 0),
    "birth": ("moment", -1),
    "code": ("polarity", 0),
    "errata": ("repair", -1),
    "cost": ("grows", 0),
}
PLACE = Path(__file__).with_name("shelf.json")
DECIMALS = 4


@dataclass(frozen=True, eq=False)
class LessonStill:
    """The picture of a lesson, with labels that are the same in every language.

    `named` are labels that are texts of the card, by their keys; those of a made-up example are
    exchanged for the language's words if it `is_made_up`. Matrices have `before`, what stands
    before each. Numbers of lines lie between 0 and 1.
    """

    card: str
    film: FilmName | None = None
    scenes: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_made_up: bool = False
    before: tuple[str, ...] = ()
    numbers: Mapping[str, Float32[np.ndarray, "row column"]] = field(default_factory=dict)


@cache
def stills() -> Mapping[str, LessonStill]:
    """The stored pictures by lesson."""
    stored = json.loads(PLACE.read_text(encoding="utf-8"))
    return {slug: _read(entry) for slug, entry in stored.items()}


def computed(capture: CaptureText) -> dict[str, LessonStill]:
    """The pictures, computed by the recipes."""
    return {slug: _still(slug, capture) for slug in SLUGS}


def as_text(shown: Mapping[str, LessonStill]) -> str:
    """The pictures as JSON: arrays as nested lists, null for a cell without a number."""
    entries = {slug: vars(still) for slug, still in shown.items()}
    return json.dumps(entries, default=_listed, ensure_ascii=False, separators=(",", ":")) + "\n"


def _listed(array: np.ndarray) -> object:
    rounded = np.round(array.astype(float), DECIMALS)
    return [[value if np.isfinite(value) else None for value in row] for row in rounded.tolist()]


def _read(entry: dict[str, object]) -> LessonStill:
    fields = dict(entry)
    numbers, labels, named = (fields.pop(name) for name in ("numbers", "labels", "named"))
    assert isinstance(numbers, dict) and isinstance(labels, dict) and isinstance(named, dict)
    listed = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return LessonStill(
        **{**fields, **listed},  # type: ignore[arg-type]
        labels={name: tuple(words) for name, words in labels.items()},
        named={name: tuple(words) for name, words in named.items()},
        numbers={name: np.array(rows, dtype=np.float32) for name, rows in numbers.items()},
    )


def _still(slug: str, capture: CaptureText) -> LessonStill:
    name, place = PICTURES[slug]
    recipe = lesson(slug).recipe(name)
    card = recipe.build(CardInputs(recipe.start_values(), 0, capture))
    return _of(name, (*card.pictures, *card.reveal)[place])


def _of(card: str, picture: Picture) -> LessonStill:
    match picture:
        case Motion():
            numbers = {key: values.astype(np.float32) for key, values in picture.arrays.items()}
            words = (word for words in picture.labels.values() for word in words)
            is_made_up = any(isinstance(word, ExampleWord) for word in words)
            texts = picture.labels, picture.named, is_made_up
            return LessonStill(card, picture.film, picture.played, *texts, numbers=numbers)
        case Chart():
            return LessonStill(card, numbers=_lines(picture))
        case Board():
            before = tuple(panel.before for panel in picture.panels)
            cells = {}
            for number, panel in enumerate(picture.panels):
                hidden = ~np.isfinite(panel.values)
                hidden |= False if panel.blocked is None else panel.blocked
                values = np.where(hidden, np.nan, panel.values)
                cells[str(number)] = values.astype(np.float32)
            return LessonStill(card, before=before, numbers=cells)
        case _:
            raise TypeError(f"{card} has no picture for the shelf")


def _lines(chart: Chart) -> dict[str, Float32[np.ndarray, "row column"]]:
    """The lines of a chart and their places, both from 0 to 1."""
    x = np.log(chart.series[0].x) if chart.log_x else chart.series[0].x
    y = np.stack([line.y for line in chart.series])
    placed = (x - x.min()) / max(float(np.ptp(x)), 1e-9)
    low, high = min(0.0, float(np.nanmin(y))), float(np.nanmax(y))
    scaled = (y - low) / max(high - low, 1e-9)
    return {"x": placed[None].astype(np.float32), "lines": scaled.astype(np.float32)}
