"""The view at its model's opening, where nothing was chosen yet.

In: the view. Out: the same view at the head, query and key that `attnviz.checks.openings` names.
"""

from dataclasses import replace

from attnviz.app.session import current
from attnviz.app.session.view import AttentionPlace, View, default_view
from attnviz.checks.openings import OPENINGS


def open_where_nothing_is_chosen() -> None:
    """Choose the opening of a model whose first example is shown, if no head or mask was chosen."""
    view = current.view()
    if (there := opened(view)) != view:
        current.update(there)


def opened(view: View) -> View:
    """The view as a page with a model opens it: at the opening if nothing was chosen."""
    opening = OPENINGS.get(view.model)
    untouched = view.place == AttentionPlace() and not (view.drawing.masks or view.drawing.edits)
    if opening is None or not untouched or view.input != default_view(view.model).input:
        return view
    place = AttentionPlace(
        stack=opening.stack,
        kind=opening.kind,
        layer=opening.head.layer,
        head=opening.head.head,
        query=opening.query,
        key=opening.key,
    )
    return replace(view, place=place)
