"""`show`: a capture in a notebook, as a frame that stays in the file or as a live widget.

In: a capture, and what the notebook shows first. Out: an object that notebooks display.
"""

from typing import TYPE_CHECKING, Literal, Unpack, overload

from attnviz.attention.capture import Capture
from attnviz.errors import bad_argument, require_package, require_type
from attnviz.files.saved_page import PageChoices, page_text
from attnviz.files.saved_page.first_view import PageOpening, PageView
from attnviz.files.saved_page.views import PageSource
from attnviz.notebook.frame import NotebookFrame, still
from attnviz.notebook.selection import PageSelection
from attnviz.pictures.group.app_capture import PageContext
from attnviz.types import Head, head_id

if TYPE_CHECKING:
    from attnviz.notebook.widget import LiveWidget

HEIGHT_PX = 720
HEIGHTS = (200, 4000)


@overload
def show(
    cap: Capture,
    view: PageView | None = None,
    head: Head | None = None,
    *,
    live: Literal[False] = False,
    height: int = HEIGHT_PX,
    **choices: Unpack[PageChoices],
) -> NotebookFrame: ...


@overload
def show(
    cap: Capture,
    view: PageView | None = None,
    head: Head | None = None,
    *,
    live: Literal[True],
    height: int = HEIGHT_PX,
    **choices: Unpack[PageChoices],
) -> "LiveWidget": ...


def show(
    cap: Capture,
    view: PageView | None = None,
    head: Head | None = None,
    *,
    live: bool = False,
    height: int = HEIGHT_PX,
    **choices: Unpack[PageChoices],
) -> "NotebookFrame | LiveWidget":
    """The page of a capture in a notebook: all heads, one head, its steps and masks.

    Parameters:

    - `cap`: a capture.
    - `view` on which it opens: "overview", "head", "steps", "masks", "picture" or "alignment"; and
      `head`, such as "L2.H1".
    - `live`: False for a frame, which stays in the saved notebook and works without Python; True
      for a widget: `widget.selection` has what is chosen in the picture, `widget.select` chooses
      from Python, and the steps of every head come from the kernel. It needs the extra `notebook`.
    - `height`, in CSS pixels.
    - `choices`: the other arguments of `attnviz.save` for .html.

    Returns what a notebook displays.

    Raises `BadInput` for a height outside 200 to 4000, a view or a head that the capture does not
    have, and what `save` refuses; `MissingExtra` for `live` without anywidget.

    Example:

    >>> cap = attnviz.capture("stories", "Tom had a red ball.")
    >>> frame = attnviz.show(cap, "head", "L2.H1")
    """
    require_type("show", "cap", cap, Capture, "give attnviz.capture(model, text)")
    _require_height(height)
    if live:
        require_package("anywidget", "show(live=True)", "notebook")
    captured = PageSource(cap, choices.get("model"), choices.get("picture")).captured()
    page = page_text(captured, choices, PageOpening(view, head, live))
    label = f"attention of {cap.model.id} on {len(cap.tokens)} tokens"
    first = captured.groups[0]
    frame = NotebookFrame(page, still(first), label, height)
    if not live:
        return frame
    from attnviz.notebook.widget import LiveWidget

    heads = choices.get("heads") or "all"
    named = first.heads[0] if heads == "all" else heads[0]
    selection = PageSelection(
        head_id(named if head is None else head),
        view=view or "overview",
        kind=first.kind,
        stack=first.stack,
    )
    return LiveWidget(PageContext(choices.get("lang", "en"), captured, first), frame, selection)


def _require_height(height: object) -> None:
    least, most = HEIGHTS
    if not isinstance(height, int) or not least <= height <= most:
        raise bad_argument(
            f"height={height!r} is not a number of pixels from {least} to {most}",
            name="height",
            found=repr(height),
            allowed=f"{least} to {most}",
        )
