"""The circuit that is cut out, below Circuit: the library's numbers, its texts, what is refused."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import widgets
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import Visit, beside_bar, parameters
from tests.support.hostile import TEXT as HOSTILE

MARY, JOHN = (
    f"When Mary and John went to the store, {giver} gave a book to" for giver in ("John", "Mary")
)


def cut_out(app: object) -> tuple[dict[str, object], dict[str, np.ndarray]] | None:
    """Header and arrays of the canvas, None where it is not on the page."""
    found = [
        unpack(element.proto.bytes)
        for element in beside_bar(app)  # type: ignore[arg-type]
        if element.proto.component_name == "attnviz.cut_out"
    ]
    return found[0] if found else None


@pytest.mark.slow
def test_the_curve_and_the_edges_are_those_of_the_library(visit: Visit) -> None:
    app = visit("circuit", model="stories", text=MARY, text_b=JOHN, cut_out="1")
    assert not app.error
    shown = cut_out(app)
    assert shown is not None
    header, arrays = shown
    lm, on = attnviz.load("stories"), attnviz.NextToken(" Mary", against=" John")
    own, other = (attnviz.experiment(lm, text, on=on) for text in (MARY, JOHN))
    found = own.circuit(other)
    assert header["points"] == list(found.points)
    assert (header["n_edges"], header["kept"], header["least"]) == (479, 10, 10)
    for name in ("faithful", "complete", "random_faithful", "random_complete"):
        np.testing.assert_allclose(arrays[name], getattr(found, name), atol=2e-4)
    assert arrays["faithful"][found.points.index(10)] == pytest.approx(found.keep(10), abs=2e-4)
    first = header["edges"][0]  # type: ignore[index]
    assert (first["sender"], first["receiver"], first["side"]) == ("L0.H0", "MLP 0", None)
    assert first["change"] == pytest.approx(found.exact[found.order[0]], abs=1e-3)
    nodes = {name for column in header["columns"] for name in column}  # type: ignore[attr-defined]
    assert {edge["sender"] for edge in header["edges"]} <= nodes  # type: ignore[attr-defined]
    assert {edge["receiver"] for edge in header["edges"]} <= nodes  # type: ignore[attr-defined]
    said = header["sentences"][0]  # type: ignore[index]
    number = "“Mary”’s lead over “John”"
    values = "9.14 in this text, −5.06 in the other"
    assert said == f"10 of 479 edges keep 90% of {number}: {values}."


@pytest.mark.slow
def test_every_edge_of_a_model_with_shared_keys_has_its_nodes(visit: Visit) -> None:
    texts = [text.replace("book", "ball") for text in (MARY, JOHN)]
    app = visit("circuit", model="stories-llama", text=texts[0], text_b=texts[1], cut_out="1")
    shown = cut_out(app)
    assert shown is not None, [each.value for each in (*app.info, *app.error)]
    columns = shown[0]["columns"]
    nodes = [name for column in columns for name in column]  # type: ignore[attr-defined]
    assert len(nodes) == len(set(nodes))
    ends = {edge[end] for edge in shown[0]["edges"] for end in ("sender", "receiver")}  # type: ignore[attr-defined]
    assert ends <= set(nodes)


def test_a_link_opens_at_its_number_of_edges(visit: Visit) -> None:
    shown = cut_out(
        visit("circuit", model="stories", text=MARY, text_b=JOHN, cut_out="1", kept="41")
    )
    assert shown is not None and shown[0]["kept"] == 40  # the nearest point of the curve


def test_it_is_closed_at_first_and_an_example_is_one_click_away(visit: Visit) -> None:
    app = visit("circuit", model="stories")
    assert cut_out(app) is None
    app = visit("circuit", model="minilm", cut_out="1")
    assert i18n.text("en", "cut_out.not_here") in [info.value for info in app.info]
    app = app.button(widgets.key("circuit.cut_out_example")).click().run()
    assert cut_out(app) is not None
    assert parameters(app)["text_b"] == JOHN


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("", "cut_out.type"),
        (MARY.replace("John", "Tom", 1), "cut_out.same"),
        ("Tom ran.", "error.token_counts"),
        (HOSTILE, ""),
    ],
)
def test_a_text_that_does_not_fit_is_refused_in_words(visit: Visit, other: str, said: str) -> None:
    app = visit("circuit", model="stories", text=MARY, text_b=other, cut_out="1")
    assert cut_out(app) is None
    shown = [each.value for each in (*app.info, *app.error)]
    assert shown
    start = i18n.catalogue("en")[said].split("{")[0] if said else ""
    assert any(value.startswith(start) for value in shown)
