"""The picture of the session, and the reason for a refused upload.

In: a checked picture, or the error of an upload. Out: the picture by its name; the problem, for the
widget that it came from. What a visitor uploads stays in the session.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from PIL.Image import Image

from attnviz.app.server.unexpected import logged
from attnviz.app.session import current, pictures, store
from attnviz.errors import AttnVizError

PICTURE, PROBLEMS = "picture", "upload_problems"


def keep_picture(image: Image) -> None:
    """Keep what the visitor uploaded, for this session only, and look at it."""
    store.put(PICTURE, image)
    current.open_image(pictures.OWN)


def picture_name() -> str:
    """The name of the chosen picture, or of the model's first one."""
    view = current.view()
    return view.input.image or pictures.default(view.model)


def picture(name: str = "") -> Image | None:
    """A picture by its name, or the chosen one; None for an upload that this session lacks."""
    name = name or picture_name()
    if name != pictures.OWN:
        return pictures.made(name)
    own: Image | None = store.get(PICTURE)
    return own


def forget_problem() -> None:
    """Forget the error of the last upload."""
    store.put(PROBLEMS, {})


@contextmanager
def taking(widget: str) -> Iterator[None]:
    """Take an upload in the block; what refuses it is kept for the widget that it came from.

    No error leaves the block: it runs in a callback, where an error would take the whole page.
    """
    forget_problem()
    try:
        yield
    except AttnVizError as error:
        store.put(PROBLEMS, {widget: error.again()})
    except Exception:
        store.put(PROBLEMS, {widget: logged("upload")})


def problem(widget: str) -> AttnVizError | None:
    """The error of the last upload; None if it was accepted, or came from another widget."""
    problems: dict[str, AttnVizError] = store.get(PROBLEMS) or {}
    return problems.get(widget)
