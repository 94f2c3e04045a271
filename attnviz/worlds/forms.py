"""The forms and colours of the `shapes` world, each as a hand or a ruler might draw it.

In: a name and a numpy Generator. Out: a contour, points [point, (x, y)] whose box is centred on 0
with its longer half-side 1, and a paint, (red, green, blue). A contour is closed, so that it can be
filled or drawn as a line. Proportions, slant and a wobble of the hand vary as far as a person still
recognises the form.
"""

import colorsys
import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float64

Points = Float64[np.ndarray, "point 2"]
Paint = tuple[int, int, int]

# name → hue and its range in degrees, lowest saturation, lowest brightness
HUES: dict[str, tuple[float, float, float, float]] = {
    "red": (358.0, 7.0, 0.68, 0.70),
    "orange": (27.0, 6.0, 0.75, 0.85),
    "yellow": (52.0, 6.0, 0.65, 0.85),
    "green": (125.0, 26.0, 0.50, 0.45),
    "blue": (217.0, 16.0, 0.55, 0.60),
    "purple": (284.0, 14.0, 0.45, 0.50),
}
COLOURS = tuple(HUES)
# one paint of each colour, for the drawing pad
PALETTE: dict[str, Paint] = {
    "red": (220, 45, 48),
    "orange": (242, 126, 32),
    "yellow": (240, 214, 44),
    "green": (56, 158, 72),
    "blue": (44, 104, 214),
    "purple": (148, 64, 184),
}


def paint(colour: str, rng: np.random.Generator) -> Paint:
    """A random paint that a person would call by the colour's name."""
    hue, stray, saturation, brightness = HUES[colour]
    red, green, blue = colorsys.hsv_to_rgb(
        (hue + rng.uniform(-stray, stray)) % 360 / 360,
        rng.uniform(saturation, 1.0),
        rng.uniform(brightness, 1.0),
    )
    return round(255 * red), round(255 * green), round(255 * blue)


def contour(form: str, rng: np.random.Generator, *, drawn: bool) -> Points:
    """A random contour of a form; `drawn` as a line, a star may cross its own strokes."""
    corners = OUTLINES[form](rng)
    if form == "star" and drawn and rng.random() < 0.5:
        corners = corners[::2][[0, 2, 4, 1, 3]]
    points = _wobbled(_dense(corners), rng.uniform(0, 0.035), rng)
    stretch = rng.uniform(0.78, 1.0)
    points = points * (np.array([stretch, 1.0]) if rng.random() < 0.5 else [1.0, stretch])
    angle = _angle(form, rng)
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    points = points @ turn
    low, high = points.min(axis=0), points.max(axis=0)
    framed: Points = (points - (low + high) / 2) / (high - low).max() * 2
    return framed


def _angle(form: str, rng: np.random.Generator) -> float:
    """A random angle in radians: mostly upright; a cross may lie on its side."""
    quarter = math.pi / 4 if form == "cross" and rng.random() < 0.35 else 0.0
    half = math.pi if form == "triangle" and rng.random() < 0.2 else 0.0
    return quarter + half + rng.uniform(-0.35, 0.35) * (rng.random() < 0.7)


def _circle(rng: np.random.Generator) -> Points:
    return _on_circle(36, np.ones(36))


def _square(rng: np.random.Generator) -> Points:
    return np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def _triangle(rng: np.random.Generator) -> Points:
    return np.array([[rng.uniform(-0.45, 0.45), -1.0], [1.0, 0.8], [-1.0, 0.8]])


def _star(rng: np.random.Generator) -> Points:
    return _on_circle(10, np.tile([1.0, rng.uniform(0.36, 0.48)], 5))


def _cross(rng: np.random.Generator) -> Points:
    a = rng.uniform(0.17, 0.36)  # half the width of an arm
    quarter = [(a, -1.0), (a, -a), (1.0, -a)]
    corners = []
    for _ in range(4):
        corners += quarter
        quarter = [(-y, x) for x, y in quarter]
    return np.array(corners)


def _heart(rng: np.random.Generator) -> Points:
    t = np.linspace(0, 2 * math.pi, 40, endpoint=False)
    x = 16 * np.sin(t) ** 3
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t))
    return np.stack([x, y], axis=1) / 16


def _on_circle(n: int, radius: Float64[np.ndarray, "point"]) -> Points:
    """n points around 0, the first above it."""
    t = np.arange(n) * 2 * math.pi / n
    return np.stack([radius * np.sin(t), -radius * np.cos(t)], axis=1)


def _dense(corners: Float64[np.ndarray, "corner 2"], per_edge: int = 4) -> Points:
    """More points on each edge, for the hand to wobble."""
    if len(corners) > 20:
        return corners
    along = np.arange(per_edge)[None, :, None] / per_edge
    steps = (np.roll(corners, -1, axis=0) - corners)[:, None]
    dense: Points = (corners[:, None] + steps * along).reshape(-1, 2)
    return dense


def _wobbled(points: Points, amount: float, rng: np.random.Generator) -> Points:
    """The contour as an unsteady hand draws it: slow waves along the line."""
    t = np.linspace(0, 2 * math.pi, len(points), endpoint=False)[:, None]
    waves = [rng.normal(size=2) * np.sin(n * t + rng.uniform(0, 7, 2)) for n in (2, 3, 5)]
    wobbled: Points = points + amount * np.sum(waves, axis=0)
    return wobbled


OUTLINES: dict[str, Callable[[np.random.Generator], Points]] = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "star": _star,
    "cross": _cross,
    "heart": _heart,
}
FORMS = tuple(OUTLINES)
