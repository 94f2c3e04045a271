"""Pictures of coloured forms; the question is always "what is the largest one, and which colour?"

In: a seed or a numpy Generator. Out: a `Scene`: things without overlap on a plain or shaded
background, one of them, the target, larger than all others by half or more. A scene is geometry: it
can be painted at any size, and gives the fraction of each patch that the target covers, with which
attention is compared. `forms` draws the single form.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, UInt8
from PIL import Image, ImageDraw

from attnviz.worlds.forms import COLOURS, FORMS, Paint, Points, contour, paint

SIDE_PX = 48
PATCH_PX = 8
SUPERSAMPLE = 2
MAX_OTHERS = 4
# half the longer side of the target, as a fraction of the picture's side
TARGET_HALF = (0.22, 0.42)
LARGE_HALF = (0.32, 0.44)
# the others' half-sides: the least, and the most as a fraction of the target's
OTHER_LEAST, OTHER_MOST = 0.07, 0.62
GAP = 0.03
# the fraction drawn as a line, and its width as a fraction of the half-side
OUTLINED = 0.4
LINE_OF_HALF = (0.16, 0.42)
Picture = UInt8[np.ndarray, "row column 3"]
LABELS = tuple(f"{colour} {form}" for form in FORMS for colour in COLOURS)


@dataclass(frozen=True, eq=False)
class Thing:
    """One form in a picture, in fractions of its side; `line` is a line's width, None = filled."""

    form: str
    colour: str
    paint: Paint
    points: Points
    line: float | None

    @property
    def box(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) in fractions of the picture's side."""
        edge = (self.line or 0) / 2
        (left, top), (right, bottom) = (
            self.points.min(axis=0) - edge,
            self.points.max(axis=0) + edge,
        )
        return float(left), float(top), float(right), float(bottom)

    @property
    def size(self) -> float:
        """The longer side of its box; the thing with the largest size is the target."""
        left, top, right, bottom = self.box
        return max(right - left, bottom - top)


@dataclass(frozen=True)
class Ground:
    """The background: two colours and the direction of the gradient between them."""

    first: Paint
    second: Paint
    angle: float


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture to be painted; the first thing is the largest, the target."""

    things: tuple[Thing, ...]
    ground: Ground

    @property
    def target(self) -> Thing:
        """The largest thing."""
        return self.things[0]

    @property
    def label(self) -> str:
        """The answer, e.g. "red circle"."""
        return f"{self.target.colour} {self.target.form}"

    @property
    def label_id(self) -> int:
        """The number of the answer among `LABELS`."""
        return FORMS.index(self.target.form) * len(COLOURS) + COLOURS.index(self.target.colour)

    def picture(self, side_px: int = SIDE_PX) -> Picture:
        """The scene painted, edges smoothed."""
        side = side_px * SUPERSAMPLE
        image = _ground_image(self.ground, side)
        draw = ImageDraw.Draw(image)
        for thing in self.things:
            _draw(draw, thing, side)
        return np.asarray(image.reduce(SUPERSAMPLE))

    def cover(self, grid: int = SIDE_PX // PATCH_PX) -> Float32[np.ndarray, "row column"]:
        """The fraction of each patch inside the outline of the target, 0 to 1."""
        fine = 12
        image = Image.new("L", (grid * fine, grid * fine))
        ImageDraw.Draw(image).polygon(_pixels(self.target.points, grid * fine), fill=1)
        inside = np.asarray(image, dtype=np.float32).reshape(grid, fine, grid, fine)
        cover: np.ndarray = inside.mean(axis=(1, 3), dtype=np.float32)
        return cover


def sample(seed: int) -> Scene:
    """The scene drawn from a seed, with two to five things."""
    return scene(np.random.default_rng(seed))


def scene(rng: np.random.Generator, fewest_others: int = 1) -> Scene:
    """A scene with a largest thing and `fewest_others` to four smaller ones."""
    half = rng.uniform(*TARGET_HALF)
    things = [_thing(rng, half, rng.uniform(half, 1 - half, size=2))]
    n_others = int(rng.integers(fewest_others, MAX_OTHERS + 1))
    while len(things) <= n_others:
        other = _other(rng, things)
        if other is not None:
            things.append(other)
        elif len(things) > fewest_others:
            break
        else:  # no room for the fewest: begin again
            return scene(rng, fewest_others)
    return Scene(tuple(things), _ground(rng))


def large(rng: np.random.Generator) -> Scene:
    """One large thing and nothing else, for the beginning of training."""
    half = rng.uniform(*LARGE_HALF)
    return Scene((_thing(rng, half, rng.uniform(half, 1 - half, size=2)),), _ground(rng))


def _other(rng: np.random.Generator, things: list[Thing]) -> Thing | None:
    """A smaller thing; None if there is no room for one."""
    most = OTHER_MOST * things[0].size / 2
    for _ in range(12):
        half = rng.uniform(OTHER_LEAST, most)
        centre = rng.uniform(half, 1 - half, size=2)
        if all(_apart(centre, half, thing) for thing in things):
            return _thing(rng, half, centre)
    return None


def _apart(centre: Float64[np.ndarray, "2"], half: float, thing: Thing) -> bool:
    left, top, right, bottom = thing.box
    x, y = centre
    reach = half + GAP
    return bool(x + reach < left or x - reach > right or y + reach < top or y - reach > bottom)


def _thing(rng: np.random.Generator, half: float, centre: Float64[np.ndarray, "2"]) -> Thing:
    """Any form in any colour, filled or drawn as a line."""
    form, colour = str(rng.choice(FORMS)), str(rng.choice(COLOURS))
    drawn = rng.random() < OUTLINED
    line = half * rng.uniform(*LINE_OF_HALF) if drawn else 0.0
    points = centre + contour(form, rng, drawn=drawn) * (half - line / 2)
    return Thing(form, colour, paint(colour, rng), points, line if drawn else None)


def _ground(rng: np.random.Generator) -> Ground:
    """White, a quiet colour, two of them shading into each other, or dark."""
    kind, angle = rng.random(), rng.uniform(0, 2 * math.pi)
    if kind < 0.4:
        return Ground((255, 255, 255), (255, 255, 255), angle)
    low, high = (15, 60) if kind > 0.92 else (165, 250)
    first, second = (_quiet(rng, low, high) for _ in range(2))
    return Ground(first, first if kind < 0.7 else second, angle)


def _quiet(rng: np.random.Generator, low: int, high: int) -> Paint:
    """A grey with a tinge."""
    red, green, blue = np.clip(rng.integers(low, high) + rng.integers(-9, 10, size=3), 0, 255)
    return int(red), int(green), int(blue)


def _ground_image(ground: Ground, side: int) -> Image.Image:
    if ground.first == ground.second:
        return Image.new("RGB", (side, side), ground.first)
    along = np.linspace(-0.5, 0.5, side)
    share = 0.5 + 0.7 * (along * math.cos(ground.angle) + along[:, None] * math.sin(ground.angle))
    first, second = np.array(ground.first), np.array(ground.second)
    shade = first + np.clip(share, 0, 1)[..., None] * (second - first)
    return Image.fromarray(shade.astype(np.uint8))


def _draw(draw: ImageDraw.ImageDraw, thing: Thing, side: int) -> None:
    corners = _pixels(thing.points, side)
    if thing.line is None:
        draw.polygon(corners, fill=thing.paint)
        return
    width = max(1, round(thing.line * side))
    draw.line([*corners, *corners[:2]], fill=thing.paint, width=width, joint="curve")


def _pixels(points: Points, side: int) -> list[tuple[float, float]]:
    return [(float(x) * side, float(y) * side) for x, y in points]
