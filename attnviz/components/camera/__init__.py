"""Camera: a button that saves what another component on the page shows, exactly as on the screen.

In: translated strings, and lines that say where a picture comes from. Out: a mounted component;
nothing comes back. The SVG is made in the browser from the drawing calls of the canvases, by
`shared/snapshot.js`.
"""

from collections.abc import Mapping, Sequence

from attnviz.components.buffer import pack

NAME = "attnviz.camera"
STRING_KEYS: tuple[str, ...] = ("camera.save", "camera.which", "camera.none")


def pack_camera(strings: Mapping[str, str], origin: Sequence[str] = ()) -> bytes:
    """The buffer of the component; `origin` has a line for each text that a picture comes from."""
    return pack({"strings": dict(strings), "origin": list(origin)}, {})
