"""Camera: a button that saves what another component on the page shows, exactly as on the screen.

In: translated strings. Out: a mounted component; nothing comes back. The SVG is made in the browser
from the drawing calls of the canvases, by `shared/snapshot.js`.
"""

from collections.abc import Mapping

from attnviz.components.buffer import pack

NAME = "attnviz.camera"
STRING_KEYS: tuple[str, ...] = ("camera.save", "camera.which", "camera.none")


def pack_camera(strings: Mapping[str, str]) -> bytes:
    """The buffer of the component."""
    return pack({"strings": dict(strings)}, {})
