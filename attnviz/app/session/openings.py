"""The view at a cell worth seeing, where nothing was chosen yet.

In: the view, and a capture as soon as there is one. Out: the same view at the head, query and key
that `attnviz.checks.examples` names for an example, or that `ranking.opening` finds in any other
text. A head that a visitor chose stays when the text changes. An address is shown as it is. Who
goes on from Start takes the sentence of the stage along.
"""

from dataclasses import replace

from attnviz.app.session import address, address_bar, current, routes, store
from attnviz.app.session.view import DEFAULT_MODEL, AttentionPlace, View, default_view
from attnviz.checks.examples import OPENINGS, sight
from attnviz.i18n import Language, text
from attnviz.pictures.group import ranking
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.pages import Page
from attnviz.pictures.shared.selection import LookQuestion
from attnviz.pictures.stage import STAGED, Scene
from attnviz.types import HeadId

FOUND = "opening"  # the layer and head that were chosen here, not by the visitor
STAGE = "stage"  # the scene and the text that this visitor's stage shows
ASKED = "stage_asked"  # the cell that an address has on the stage
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
    known = {one.text for one in STAGED.values()}
    untouched = (view.model, view.input) == (DEFAULT_MODEL, default_view().input)
    return _staged_view(view) if untouched or view.input.text in known else view


def _staged_view(view: View) -> View:
    """The view of what the stage shows; what was chosen in the same text stays chosen."""
    scene, sentence = staged()
    seen = STAGED.get(scene)
    there = default_view("stories" if seen is None else seen.model)
    read = replace(there.input, text=sentence)
    if (view.model, view.input) == (there.model, read):
        return view
    place = AttentionPlace()
    if seen is not None:
        layer, head = seen.head.layer, seen.head.head
        place = AttentionPlace(layer=layer, head=head, query=seen.query, key=seen.key)
    return replace(view.of_another_model, model=there.model, input=read, place=place)


def staged() -> tuple[Scene, str]:
    """The scene of Start's stage and its text: the visitor's last one, else the opening."""
    chosen: tuple[Scene, str] = store.get(STAGE, OPENING)
    return chosen


def stage(scene: Scene, sentence: str) -> None:
    """Show a scene or a visitor's sentence on the stage; who goes on from Start goes on with it."""
    store.put(STAGE, (scene, sentence))
    store.pop(ASKED, None)
    current.update(_staged_view(current.view()))
    _name_stage()


def forbid_on_stage(look: LookQuestion) -> None:
    """Forbid a look of the stage, or allow it again, in the view that one goes on with as well."""
    current.update(_staged_view(current.view()))
    current.take_question(look)
    _name_stage()


def arrive(page: Page) -> None:
    """Show what the address of Start names: on its stage a text, a look that is forbidden."""
    address_bar.arrive(page)
    if page != routes.DEFAULT or not address_bar.names_the_stage():
        return
    named, _ = address.parse(address_bar.as_it_stands())
    sentence = named.get("text", "").strip()[:MAX_OWN_CHARS] or OPENING[1]
    scene = next((name for name, one in STAGED.items() if one.text == sentence), "own")
    store.put(STAGE, (scene, sentence))
    view = _staged_view(current.view())
    place = address.changed(View(), {name: named.get(name) for name in address.INDICES}).place
    inside = replace(view.inside, forbid=named.get("forbid", "")).at(place)
    is_asked = bool(inside.forbid) and None not in (place.layer, place.head)
    if is_asked:
        view = replace(view, place=place, inside=inside)
    current.update(view, keeps=("forbid",))
    look = str(HeadId(*place.layer_and_head)), place.query, place.key
    store.put(ASKED, look if is_asked else None)


def asked_look() -> tuple[str, int, int] | None:
    """The look that an address of Start forbids: the stage is about its cell, if it can be."""
    look: tuple[str, int, int] | None = store.get(ASKED, None)
    return look


def home() -> dict[str, str]:
    """The parameters of a link to Start: a look that is forbidden in a text that it can show."""
    view = current.view()
    text = view.input.text
    fits = view.model == "stories" or any(
        (view.model, text) == (one.model, one.text) for one in STAGED.values()
    )
    is_plain = view.input == replace(default_view(view.model).input, text=text)
    if not (fits and is_plain and len(text) <= MAX_OWN_CHARS and view.generating.n_tokens == 0):
        return {}
    return _of_text(text) | _forbidden(view) if _forbidden(view) else {}


def _name_stage() -> None:
    """Have Start's address name what the stage shows."""
    address_bar.name_stage(_of_text(staged()[1]) | _forbidden(current.view()))


def _of_text(sentence: str) -> dict[str, str]:
    return {} if sentence == OPENING[1] else {"text": sentence}


def _forbidden(view: View) -> dict[str, str]:
    """The parameters of a look that is forbidden, none where there is none, or no head is named."""
    if not view.inside.at(view.place).forbid or None in (view.place.layer, view.place.head):
        return {}
    every = address.params(view)
    return {name: every[name] for name in (*address.INDICES, "forbid")}


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


def leading_to(lang: Language, example: str, model: str) -> str:
    """The label of an example, with the model that it leads to where another one is shown."""
    if current.view().model == model and not current.view().input.capture:
        return example
    return f"{example} → {text(lang, f'model.{model}.label')}"
