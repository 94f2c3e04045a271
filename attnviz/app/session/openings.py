"""The view at a cell worth seeing, where nothing was chosen yet.

In: the view, and a capture as soon as there is one. Out: the same view at the head, query and key
that `attnviz.checks.openings` names for an example, or that `ranking.opening` finds in any other
text. A head that a visitor chose stays when the text changes. An address is shown as it is. Who
goes on from Start takes the sentence of the stage along.
"""

from dataclasses import replace

from attnviz.app.session import address_bar, current, store
from attnviz.app.session.view import DEFAULT_MODEL, AttentionPlace, View, default_view
from attnviz.checks.openings import OPENINGS, sight
from attnviz.pictures.group import ranking
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.stage import Scene
from attnviz.pictures.stage.scenes import STAGED
from attnviz.types import HeadId

FOUND = "opening"  # the layer and head that were chosen here, not by the visitor
STAGE = "stage"  # the scene and the text that this visitor's stage shows
MAX_OWN_CHARS = 400  # what the box of the stage takes
OPENING: tuple[Scene, str] = ("book", STAGED["book"].text)


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


def of_the_stage(view: View) -> View:
    """The view of what Start's stage shows, if the visitor has chosen no other model or text."""
    scene, sentence = staged()
    seen = STAGED.get(scene)
    known = {one.text for one in STAGED.values()}
    untouched = (view.model, view.input) == (DEFAULT_MODEL, default_view().input)
    if not (untouched or view.input.text in known):
        return view
    there = default_view("stories" if seen is None else seen.model)
    place = AttentionPlace()
    if seen is not None:
        layer, head = seen.head.layer, seen.head.head
        place = AttentionPlace(layer=layer, head=head, query=seen.query, key=seen.key)
    read = replace(there.input, text=sentence)
    return replace(view.of_another_model, model=there.model, input=read, place=place)


def staged() -> tuple[Scene, str]:
    """The scene of Start's stage and its text: that of the address, else the visitor's last one."""
    sentence = address_bar.text_alone().strip()
    if sentence:
        return "own", sentence[:MAX_OWN_CHARS]
    chosen: tuple[Scene, str] = store.get(STAGE, OPENING)
    return chosen


def open_a_new_text(shown: PageContext) -> None:
    """Choose the cell to show first of a text that was just typed or chosen."""
    view = current.view()
    place = view.place
    if not store.pop(current.NEW_TEXT, False) or place.query is not None:
        return
    if shown.group.uneven or not shown.size.all_at_once or view.drawing.edits:
        return
    known = OPENINGS.get(view.model)
    own = (place.layer, place.head)
    ours = ((None, None), store.get(FOUND, None), known and (known.head.layer, known.head.head))
    fixed = None if own in ours else HeadId(*shown.size.nearest_head(*place.layer_and_head))
    seen = sight(view.model, view.input.text)
    if seen is not None and fixed is None:
        head, query, key = seen.head, seen.query, seen.key
    else:
        found = ranking.opening(shown.group, fixed)
        if found is None:
            return
        head, query, key = found[0].head, found[1], found[2]
    if fixed is None:
        store.put(FOUND, (head.layer, head.head))
    there = replace(place, layer=head.layer, head=head.head, query=query, key=key)
    current.update(replace(view, place=there), keeps=("masks",))
    address_bar.write()
