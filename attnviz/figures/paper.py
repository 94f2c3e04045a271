"""Marks written by matplotlib: PDF, PNG and EPS with embedded fonts, or on a caller's axes.

In: a `PrintSheet`. Out: bytes, or marks on an axes. Text is set in DejaVu Sans, which matplotlib
brings along, and signs that it lacks in a font of this machine that has them. matplotlib is
imported when it is needed: the extra `paper` installs it.
"""

import io
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from attnviz.errors import require_package
from attnviz.figures.sheet import POINTS, Frame, Matrix, PrintSheet, Segment, Text
from attnviz.figures.text_width import legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ending = Literal["pdf", "png", "eps"]
FONT = "DejaVu Sans"
# tried in this order for signs that the first font lacks
OTHERS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "Hiragino Sans", "Yu Gothic",
    "Apple SD Gothic Neo", "Malgun Gothic", "PingFang SC", "Microsoft YaHei", "Noto Sans",
    "Noto Emoji", "Segoe UI Symbol", "Arial Unicode MS",
)  # fmt: skip
UNKNOWN = "\ufffd"
EMBEDDED = 42  # TrueType outlines in the file; type 3, the default, is refused by some journals
SETTINGS = {"pdf.fonttype": EMBEDDED, "ps.fonttype": EMBEDDED, "text.usetex": False}
PNG_DPI = 300
# pixels along the longer side of a matrix, so that no viewer blurs its cells; EPS does not compress
MIN_PIXELS: dict[Ending, int] = {"pdf": 1024, "png": 1, "eps": 1}
HORIZONTAL = {"start": "left", "middle": "center", "end": "right"}


def printed(sheet: PrintSheet, ending: Ending) -> bytes:
    """The figure as a PDF, PNG or EPS file of its own size."""
    figure, ax = _figure(sheet)
    _put(sheet, ax, MIN_PIXELS[ending])
    return _written(figure, sheet, ending)


def draw(sheet: PrintSheet, ax: "Axes") -> None:
    """Put the marks on an axes; letters and lines are as large as the axes allows."""
    ax.set_xlim(0, sheet.width)
    ax.set_ylim(sheet.height, 0)
    ax.set_aspect("equal", adjustable="box")
    ax.apply_aspect()
    ax.axis("off")
    points = ax.get_window_extent().width * POINTS / ax.figure.dpi
    _put(sheet, ax, MIN_PIXELS["pdf"], points / sheet.width)


def _figure(sheet: PrintSheet) -> "tuple[Figure, Axes]":
    require_package("matplotlib", "a PDF, PNG or EPS file (SVG needs nothing)", "paper")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(sheet.width / POINTS, sheet.height / POINTS))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, sheet.width)
    ax.set_ylim(sheet.height, 0)
    ax.axis("off")
    return figure, ax


def _written(figure: "Figure", sheet: PrintSheet, ending: Ending) -> bytes:
    import matplotlib

    file = io.BytesIO()
    about = {"Title": legible(sheet.title)} if sheet.title else {}
    dates = {"CreationDate": None} if ending == "pdf" else {}  # equal figures are equal files
    with matplotlib.rc_context(SETTINGS):  # type: ignore[arg-type]
        figure.savefig(file, format=ending, dpi=PNG_DPI, metadata=about | dates)
    return file.getvalue()


def _put(sheet: PrintSheet, ax: "Axes", min_pixels: int, scale: float = 1.0) -> None:
    """The marks in their order; the limits of the axes stay."""
    limits = ax.get_xlim(), ax.get_ylim()
    for order, mark in enumerate(sheet.marks):
        if isinstance(mark, Text):
            _put_text(ax, mark, scale, order)
        elif isinstance(mark, Segment):
            ax.plot(
                (mark.x0, mark.x1), (mark.y0, mark.y1), color=mark.colour, zorder=order,
                linewidth=mark.width * scale, solid_capstyle="butt",
            )  # fmt: skip
        elif isinstance(mark, Frame):
            _put_frame(ax, mark, scale, order)
        elif mark.cells == "vector":
            _put_shapes(ax, mark, order)
        else:
            _put_picture(ax, mark, min_pixels, order)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])


def _put_text(ax: "Axes", mark: Text, scale: float, order: int) -> None:
    ax.text(
        mark.x,
        mark.y,
        _drawable(mark.text),
        fontsize=mark.size * scale,
        fontfamily=list(_families()),
        fontweight="bold" if mark.bold else "normal",
        color=mark.colour,
        horizontalalignment=HORIZONTAL[mark.anchor],
        verticalalignment="baseline",
        rotation=90 if mark.turned else 0,
        rotation_mode="anchor",
        parse_math=False,
        zorder=order,
    )


def _put_frame(ax: "Axes", mark: Frame, scale: float, order: int) -> None:
    from matplotlib.patches import Rectangle

    width = mark.line * scale
    ax.add_patch(
        Rectangle(
            (mark.x, mark.y), mark.width, mark.height, fill=False, edgecolor=mark.colour,
            linewidth=width, zorder=order,
        )
    )  # fmt: skip


def _put_picture(ax: "Axes", mark: Matrix, min_pixels: int, order: int) -> None:
    enlarged = max(1, -(-min_pixels // max(mark.colours.shape[:2])))
    pixels = mark.colours.repeat(enlarged, axis=0).repeat(enlarged, axis=1)
    place = (mark.x, mark.x + mark.width, mark.y + mark.height, mark.y)
    ax.imshow(pixels, extent=place, interpolation="none", aspect="auto", zorder=order)


def _put_shapes(ax: "Axes", mark: Matrix, order: int) -> None:
    from matplotlib.colors import ListedColormap

    n_rows, n_columns = mark.colours.shape[:2]
    colours, index = np.unique(mark.colours.reshape(-1, 3), axis=0, return_inverse=True)
    ax.pcolormesh(
        np.linspace(mark.x, mark.x + mark.width, n_columns + 1),
        np.linspace(mark.y, mark.y + mark.height, n_rows + 1),
        index.reshape(n_rows, n_columns),
        cmap=ListedColormap(colours / 255),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        linewidth=0,
        zorder=order,
    )


# --- fonts -------------------------------------------------------------------------------------


@cache
def _families() -> tuple[str, ...]:
    """The fonts of this machine that labels are set in, the first one first."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return (FONT, *(name for name in OTHERS if name in installed))


@cache
def _known_signs() -> frozenset[int]:
    """The code points that one of the fonts has."""
    from matplotlib import font_manager

    paths = [font_manager.findfont(name) for name in _families()]
    return frozenset(code for path in paths for code in font_manager.get_font(path).get_charmap())


def _drawable(text: str) -> str:
    """The text with "�" for each sign that no font has: it is not wider than the sign would be."""
    if text.isascii():
        return text
    known = _known_signs()
    return "".join(sign if ord(sign) in known else UNKNOWN for sign in text)
