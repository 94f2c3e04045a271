"""A decoder's row is named after what it has read and what it predicts, on every page."""

from typing import Any

import numpy as np
import pytest

from attnviz.pictures.group.axes import row_names
from tests.contracts import project
from tests.pages.conftest import Visit, sent

TEXT = "Tom saw a dog"
ROWS = ["<|endoftext|>", "Tom", "saw", "a", "dog"]
PAGES = ("overview", "head", "steps", "masks", "compare", "geometry")


def rows_of(page: str, header: dict[str, Any]) -> list[str]:
    """The names of the rows that a page's picture gets."""
    if page == "masks":
        return list(header["tokens"][0])
    if page == "geometry":
        return list(header["plane"]["tokens"])
    return list((header["a"] if page == "compare" else header)["rows"])


@pytest.mark.parametrize("page", PAGES)
def test_a_row_has_one_name_on_every_page(visit: Visit, page: str) -> None:
    more = {"masks": {"text2": ""}, "geometry": {"tab": "head"}}.get(page, {})
    header, _ = sent(visit(page, model="stories", text=TEXT, **more))
    named = [name.strip() for name in rows_of(page, header)]
    assert "saw\u2009⇢\u2009a" in [name.replace(" ", "") for name in named]
    assert "⇢" not in named[-1], "nothing in the text comes after the last token"


@pytest.mark.slow
def test_a_row_of_an_encoder_is_its_token(visit: Visit) -> None:
    header, _ = sent(visit("head", text=TEXT))
    assert header["rows"] == header["tokens"]


def test_padding_is_not_predicted() -> None:
    padding = np.array([False, False, True])
    assert row_names(["a", "b", "[PAD]"], padding) == ("a\u2009⇢\u2009b", "b", "[PAD]")
    assert row_names([], np.array([], dtype=np.bool_)) == ()


def test_right_to_left_tokens_stay_on_their_side_of_the_arrow() -> None:
    first, _ = row_names(["שלום", "b"], np.zeros(2, dtype=np.bool_))
    assert first == "\u2068שלום\u2069\u2009⇢\u2009b"


def test_only_one_function_writes_the_arrow() -> None:
    """The app's own, and its mirror where there is no server."""
    writes = {
        str(path.relative_to(project.PACKAGE))
        for pattern in ("*.py", "*.js")
        for path in project.PACKAGE.rglob(pattern)
        if "\\u2009⇢" in path.read_text("utf-8")
        or "RIGHTWARDS DASHED ARROW" in path.read_text("utf-8")
    }
    assert writes == {"pictures/group/axes.py", "pictures/shared/axes.js"}
