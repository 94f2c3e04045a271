"""The view and the head that a page opens on.

In: what a caller asked for, and the groups of a capture. Out: the head that is chosen first and the
parameters of the page's address; what the capture does not have is refused by name.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from attnviz.errors import bad_argument
from attnviz.types import Head, HeadId, head_id

PageView = Literal["overview", "head", "steps", "masks", "picture", "alignment"]
VIEWS: tuple[PageView, ...] = get_args(PageView)


@dataclass(frozen=True)
class PageOpening:
    """The first view of a page, all heads by default, and its first head.

    `live` is True if the page may ask a notebook's kernel for the steps of any head.
    """

    view: PageView | None = None
    head: Head | None = None
    live: bool = False

    def heads(self, named: Sequence[HeadId] | None) -> tuple[HeadId, ...] | None:
        """The heads that have Steps: the named ones, and the one that the page opens on."""
        if self.head is None:
            return None if named is None else tuple(named)
        return tuple(dict.fromkeys((head_id(self.head), *(named or ()))))

    def start(self, place: HeadId, present: Collection[str]) -> dict[str, int | str]:
        """The first parameters of the page's address; `BadInput` unless the view is present."""
        if self.view is not None and self.view not in present:
            allowed = ", ".join(view for view in VIEWS if view in present)
            raise bad_argument(
                f"view={self.view!r} is not in this page; give one of {allowed}",
                name="view",
                found=str(self.view),
                allowed=allowed,
            )
        view: dict[str, int | str] = {} if self.view is None else {"view": self.view}
        return {"layer": place.layer, "head": place.head, **view}
