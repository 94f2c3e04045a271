"""`current`: what a change of the view keeps, and what it drops because it belongs elsewhere."""

from collections.abc import Iterator
from dataclasses import fields, replace

import pytest

from attnviz.app.session import address, current, store
from attnviz.app.session.address import PARAMETERS
from attnviz.app.session.view import DrawingOptions, View, default_view
from attnviz.checks import examples

DRAWN = replace(
    default_view(), drawing=DrawingOptions(masks="causal", edits="q.3.5=0.7", words=True)
)
# another value for each parameter that an input, an attention or a head is made of
INPUT = {
    **{"model": "stories", "text": "other", "text2": "other", "target": "other"},
    **{"cut": True, "file": True, "chat": True},
    **{"image": "cross", "sound": "own", "capture": "0" * 64},
    **{"generate": 3, "temperature": 0.5, "top_k": 2, "top_p": 0.5, "seed": 7},
    **{"stack": "decoder", "kind": "cross", "window": 1},
}
HEAD = {"layer": 2, "head": 1}
NEITHER = {
    **{"query": 1, "key": 2, "mean": "layer", "scale": "log", "top": 3, "lang": "ja"},
    **{"edges": True, "parts": True, "patch": True, "changes": "L0.H1.mixed=zero", "text_b": "b"},
}


@pytest.fixture(autouse=True)
def drawn() -> Iterator[None]:
    store.put(current.KEPT, DRAWN)
    yield
    store.pop(current.KEPT)


def changed(name: str, value: object) -> View:
    current.update(address.changed(current.view(), {name: value}))
    after = current.view()
    assert PARAMETERS[name].value(after) == value
    return after


@pytest.mark.parametrize("name", INPUT)
def test_masks_and_edits_go_with_their_input(name: str) -> None:
    assert changed(name, INPUT[name]).drawing == DrawingOptions(words=True)


@pytest.mark.parametrize("name", HEAD)
def test_edits_go_with_their_head_and_masks_stay(name: str) -> None:
    assert changed(name, HEAD[name]).drawing == DrawingOptions(masks="causal", words=True)


@pytest.mark.parametrize("name", NEITHER)
def test_masks_and_edits_stay_where_input_and_head_do(name: str) -> None:
    after = changed(name, NEITHER[name]).drawing
    assert (after.masks, after.edits) == ("causal", "q.3.5=0.7")


def test_every_parameter_of_the_input_is_tried() -> None:
    parts = ("input", "generating")
    assert {name for name, known in PARAMETERS.items() if known.part in parts} <= INPUT.keys()


def test_what_is_kept_on_purpose_stays() -> None:
    current.update(address.changed(DRAWN, {"target": "le chat"}), keeps=("masks", "edits"))
    assert current.view().drawing == DRAWN.drawing
    current.take({"text": "other", "masks": "window=4"})
    assert current.view().drawing == DrawingOptions(masks="window=4", words=True)


def test_of_another_model_nothing_stays_that_was_chosen_in_the_model() -> None:
    names = {
        **{name: value for name, value in (INPUT | HEAD | NEITHER).items() if name != "lang"},
        **{"effects": True, "to": "zero", "guess": "1.2", "arrow": "L0.H0>L1.H0.k", "paths": True},
        **{"model_b": "stories", "image_b": "cross", "layer_b": 1, "head_b": 1, "query_b": 0},
    }
    view = address.changed(DRAWN, names).of_another_model
    defaults = default_view()
    assert view.place == defaults.place and view.right == defaults.right
    assert (view.switches.changes, view.switches.effects, view.switches.to) == ("", False, "zero")
    assert (view.circuit.path, view.circuit.paths, view.output.guess) == ("", False, "")
    assert (view.input.target, view.input.chat, view.input.capture) == ("", False, "")
    assert view.input.text == "other" and view.output.parts


def test_no_cell_is_chosen_in_a_view_without_one() -> None:
    cell = {"query": 1, "key": 2, "query_b": 3, "key_b": 4, "layer": 5, "layer_b": 6}
    view = address.changed(DRAWN, cell).without_cell
    assert view == address.changed(DRAWN, {"layer": 5, "layer_b": 6})


def test_every_field_of_a_view_stands_in_the_address() -> None:
    named = {(parameter.part, parameter.field) for parameter in PARAMETERS.values()}
    parts = {parameter.part for parameter in PARAMETERS.values()} - {""}
    own = {("", field.name) for field in fields(View)} - {("", part) for part in parts}
    within = {
        (part, field.name) for part in parts for field in fields(getattr(default_view(), part))
    }
    assert named == own | within


def test_a_text_stays_cut_for_another_model_only_if_it_is_the_same_text() -> None:
    readable = examples.texts("stories")
    of_before = next(text for text in examples.texts("sentiment") if text not in readable)
    for text, is_kept in (("a long text of one's own", True), (of_before, False)):
        store.put(
            current.KEPT, address.changed(DRAWN, {"model": "sentiment", "text": text, "cut": True})
        )
        current.open_model("stories")
        assert (current.view().input.text == text, current.view().input.cut) == (is_kept, is_kept)
