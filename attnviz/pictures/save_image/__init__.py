"""A button that saves what another component on the page shows, exactly as on the screen.

In: a `SaveImageView`. Nothing comes back. The SVG is made in the browser from the drawing calls of
the canvases, by `shared/snapshot.js`.
"""

from dataclasses import dataclass

from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True)
class SaveImageView:
    """`origin` has a line for each text that a picture comes from."""

    origin: tuple[str, ...] = ()


CANVAS = Canvas("save_image", (SaveImageView,))
