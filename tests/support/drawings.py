"""Pictures as a visitor draws them: strokes of a round brush on white, 200 pixels wide.

In: a form, a colour and how it is drawn. Out: a `PIL.Image`. Nothing here is shared with
`worlds`, so that what the model learned from cannot hide in what it is tested on.
"""

import math

from PIL import Image, ImageDraw

SIDE = 200
Path = list[tuple[float, float]]
Paint = tuple[int, int, int]


def _ring(n: int, radius: float, start: float = -math.pi / 2) -> Path:
    steps = [start + 2 * math.pi * k / n for k in range(n)]
    return [(radius * math.cos(a), radius * math.sin(a)) for a in steps]


def _star() -> Path:
    outer, inner = _ring(5, 1.0), _ring(5, 0.42, -math.pi / 2 + math.pi / 5)
    return [point for pair in zip(outer, inner, strict=True) for point in pair]


def _heart() -> Path:
    points = []
    for k in range(32):
        t = 2 * math.pi * k / 32
        y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        points.append((math.sin(t) ** 3, -y / 16))
    return points


CLOSED: dict[str, Path] = {
    "circle": _ring(28, 0.95),
    "square": [(-0.9, -0.9), (0.9, -0.85), (0.85, 0.9), (-0.85, 0.85)],
    "triangle": [(0.0, -0.95), (0.95, 0.85), (-0.95, 0.8)],
    "star": _star(),
    "heart": _heart(),
}
# a cross is two strokes, however it is drawn
CROSS: tuple[Path, Path] = ([(0.0, -0.9), (0.05, 0.9)], [(-0.9, 0.0), (0.9, 0.05)])


def drawing(
    form: str, paint: Paint, *, filled: bool, centre: tuple[float, float], half: float, brush: int
) -> Image.Image:
    """One form drawn on white."""
    image = Image.new("RGB", (SIDE, SIDE), "white")
    add(image, form, paint, filled=filled, centre=centre, half=half, brush=brush)
    return image


def add(
    image: Image.Image,
    form: str,
    paint: Paint,
    *,
    filled: bool,
    centre: tuple[float, float],
    half: float,
    brush: int,
) -> None:
    """One more form on a drawing; `half` is about half its side, in pixels."""
    draw = ImageDraw.Draw(image)
    if form == "cross":
        for path in CROSS:
            _stroke(draw, _placed(path, centre, half), paint, round(brush * 1.6))
        return
    path = _placed(CLOSED[form], centre, half)
    if filled:
        draw.polygon(path, fill=paint)
    else:
        _stroke(draw, [*path, path[0]], paint, brush)


def _placed(path: Path, centre: tuple[float, float], half: float) -> Path:
    """The path in pixels, with the small tremble of a hand that holds a mouse."""
    return [
        (
            centre[0] + half * x + 1.5 * math.sin(2.3 * k + x),
            centre[1] + half * y + 1.5 * math.cos(1.7 * k + y),
        )
        for k, (x, y) in enumerate(path)
    ]


def _stroke(draw: ImageDraw.ImageDraw, path: Path, paint: Paint, brush: int) -> None:
    """A line with round ends, as a canvas draws it."""
    draw.line(path, fill=paint, width=brush, joint="curve")
    for x, y in path:
        draw.ellipse((x - brush / 2, y - brush / 2, x + brush / 2, y + brush / 2), fill=paint)
