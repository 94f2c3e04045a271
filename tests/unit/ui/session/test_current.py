"""`update`: what a change of the view also clears, parameter by parameter."""

from collections.abc import Iterator
from typing import Any

import pytest

from attnviz.ui.session import current, store
from attnviz.ui.session.address import params

EDITS, MASKS = "q.3.5=0.7", "causal"
# a value that differs from the one the view begins with
OTHER: dict[str, Any] = {
    **{"model": "stories", "text": "Lily", "text2": "Mia", "cut": True, "file": True},
    **{"chat": True, "target": "la", "image": "shapes/1", "sound": "own", "capture": "0" * 64},
    **{"generate": 7, "temperature": 1.5, "top_k": 11, "top_p": 0.5, "seed": 3},
    **{"stack": "decoder", "kind": "cross", "window": 2, "layer": 2, "head": 5},
    **{"query": 3, "key": 4, "special": "hide", "scale": "log", "words": True, "order": "entropy"},
}
INPUT = frozenset(
    ("model", "text", "text2", "cut", "file", "chat", "target", "image", "sound", "capture")
) | frozenset(("generate", "temperature", "top_k", "top_p", "seed"))
CLEARS_MASKS = INPUT | {"stack", "kind", "window"}
CLEARS_EDITS = CLEARS_MASKS | {"layer", "head"}


@pytest.fixture(autouse=True)
def edited() -> Iterator[None]:
    """A view with masks and edits, for a test alone."""
    before = store.get(current.KEPT)
    current.update(edits=EDITS, masks=MASKS)
    yield
    store.put(current.KEPT, before)


def kept() -> tuple[bool, bool]:
    """True for the masks, and for the edits, if the view still has them."""
    left = params(current.view())
    return left.get("masks") == MASKS, left.get("edits") == EDITS


def test_the_parameters_here_are_those_that_clear_something() -> None:
    assert CLEARS_EDITS == current.EDITS_BELONG_TO and CLEARS_MASKS == current.MASKS_BELONG_TO
    assert OTHER.keys() >= CLEARS_EDITS


@pytest.mark.parametrize("name", OTHER)
def test_update_clears_the_masks_and_edits_of_another_input_or_head(name: str) -> None:
    """Edits belong to one head of one input: on another head they would be made up numbers."""
    assert kept() == (True, True)
    current.update(**{name: OTHER[name]})
    assert kept() == (name not in CLEARS_MASKS, name not in CLEARS_EDITS)


@pytest.mark.parametrize("name", OTHER)
def test_update_clears_nothing_where_nothing_changes(name: str) -> None:
    before = current.address.PARAMETERS[name].value(current.view())
    current.update(**{name: before})
    assert kept() == (True, True)


def test_update_keeps_masks_and_edits_that_come_with_the_change() -> None:
    current.update(layer=2, text="Lily", edits=EDITS, masks=MASKS)
    assert kept() == (True, True)
    assert current.view().place.layer == 2
