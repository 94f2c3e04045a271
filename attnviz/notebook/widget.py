"""The live widget: the page of a capture, joined to Python both ways by anywidget.

In: a capture with its groups, and the text of its page. Out: a widget whose `selection` follows the
picture and moves it; the kernel derives the steps of any head that is opened. This module needs the
extra `notebook` and is imported where a live widget is made, and nowhere else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from attnviz.errors import AttnVizError
from attnviz.files.saved_page.first_view import PageView
from attnviz.files.saved_page.views import HEAD_VIEWS, HeadView, head_data
from attnviz.notebook.frame import NotebookFrame, pictures
from attnviz.notebook.selection import PageSelection, from_page, require_selection, to_page
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.groups import Group
from attnviz.types import Head, HeadId, head_id

SCRIPT = Path(__file__).with_name("widget.js")
# how a page names the buffer of a head: the number of its group, a view and the head
WANTED = re.compile(
    rf"(?P<group>[0-9]{{1,3}}) (?P<view>{'|'.join(HEAD_VIEWS)}) (?P<head>\S{{4,20}})"
)


class LiveWidget(anywidget.AnyWidget):
    """A page in a notebook that Python follows and moves.

    `selection` is a `PageSelection`: what was chosen last, in the picture or here. Use
    `widget.observe(function, "selection")` to be told of each change, `select` to make one.
    """

    _esm = SCRIPT.read_text(encoding="utf-8")
    page = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)
    selection = traitlets.Instance(PageSelection).tag(
        sync=True,
        to_json=lambda selection, widget: to_page(selection, widget.groups),
        from_json=lambda sent, widget: from_page(sent, widget.groups),
    )

    def __init__(self, shown: PageContext, frame: NotebookFrame, selection: PageSelection) -> None:
        self.shown = shown
        self.still = frame.still
        super().__init__(
            page=frame.page, label=frame.label, height=frame.height, selection=selection
        )
        self.on_msg(self._answer)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of attention calls that the page shows."""
        return self.shown.captured.groups

    def select(
        self,
        head: Head,
        query: int | None = None,
        key: int | None = None,
        view: PageView | None = None,
    ) -> None:
        """Show a head, and pin a query and a key; the view stays unless one is named.

        Raises `BadInput` for what the capture does not have.
        """
        self.selection = replace(
            self.selection,
            head=head_id(head),
            query=query,
            key=key,
            view=view or self.selection.view,
        )

    @traitlets.validate("selection")
    def _require_selection(self, proposal: Mapping[str, Any]) -> PageSelection:
        selection: PageSelection = proposal["value"]
        require_selection(selection, self.groups)
        return selection

    def _answer(self, _widget: object, content: object, _buffers: Sequence[object]) -> None:
        """Send the buffer of a head that the page lacks, nothing for one that cannot be shown."""
        wanted = content.get("wanted") if isinstance(content, Mapping) else None
        match = WANTED.fullmatch(wanted) if isinstance(wanted, str) else None
        if match is None or int(match["group"]) >= len(self.groups):
            return
        shown = self.shown.of_group(self.groups[int(match["group"])])
        try:
            data = head_data(shown, cast(HeadView, match["view"]), HeadId.parse(match["head"]))
        except AttnVizError:  # the page says that it lacks the head
            data = None
        self.send({"wanted": wanted}, [] if data is None else [data.packed()])

    def __repr__(self) -> str:
        return f"LiveWidget of {self.label}, {self.selection.head} selected"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The widget, and the still picture for what shows no widgets."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        types, metadata = bundle
        return {**pictures(self.still, self.label, self.height), **types}, metadata
