"""A finished figure: as SVG text, as a file, or on a matplotlib axes.

In: a `PrintSheet`. Out: a `Drawing`. SVG is written by attnviz; PDF, PNG and EPS by matplotlib,
with every font embedded, which the extra `paper` installs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from attnviz.errors import BadInput, cannot_write
from attnviz.figures import paper, svg
from attnviz.figures.sheet import POINTS, PrintSheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".pdf", ".png", ".eps")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure for print; a notebook shows it as the last value of a cell."""

    sheet: PrintSheet

    def __repr__(self) -> str:
        width, height = self.sheet.width / POINTS, self.sheet.height / POINTS
        return f"Drawing: {width:.2f} × {height:.2f} in, {len(self.sheet.marks)} marks"

    def svg(self) -> str:
        """The figure as an SVG document, which loads nothing."""
        return svg.document(self.sheet)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> Path:
        """Write .svg, .pdf, .png or .eps, by the ending of the path.

        Raises `BadInput` for another ending and for a path that cannot be written, and
        `MissingExtra` where matplotlib is needed and not installed.
        """
        target = Path(path)
        content = self.content(target.suffix.lower())
        try:
            target.write_bytes(content)
        except OSError as error:
            raise cannot_write(path, error) from error
        return target

    def content(self, ending: str) -> bytes:
        """The content of a file with this ending: ".svg", ".pdf", ".png" or ".eps"."""
        if ending == ".svg":
            return self.svg().encode()
        for printed in get_args(paper.Ending):
            if ending == f".{printed}":
                return paper.printed(self.sheet, printed)
        raise BadInput(
            f"a figure cannot be written as {ending or 'a file without an ending'!r}; give one of"
            f" {', '.join(FORMATS)}",
            code="bad_ending",
            found=ending,
            allowed=", ".join(FORMATS),
        )

    def draw(self, ax: "Axes") -> None:
        """Put the figure on a matplotlib axes; its proportions are kept."""
        paper.draw(self.sheet, ax)
