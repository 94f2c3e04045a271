"""Models whose layers differ: heads, tokens and windows of each layer as it has them."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import model_images, widgets
from tests.pages.conftest import Visit, parameters, sent, told

KEY = widgets.key
Tiny = Callable[[str], str]
PAGES = ("overview", "head", "steps", "masks")


@pytest.mark.some(2)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_every_page_shows_a_window(
    visit: Visit, tiny: Tiny, page: str, lang: i18n.Language
) -> None:
    app = visit(page, lang=lang, text="", model=tiny("swin"), image="landscape", window="5")
    assert not app.error
    assert app.number_input(KEY("window")).value == 5
    header, _ = sent(app)
    labels = header["tokens"][0] if page == "masks" else header["tokens"]
    assert labels[0] == "r4c4" and len(labels) == 16  # the second window of the second row
    assert parameters(app)["window"] == "5"


@pytest.mark.slow
def test_layers_have_their_own_heads_and_places(visit: Visit, tiny: Tiny) -> None:
    header, arrays = sent(visit("head", text="", model=tiny("swin"), window="5", image="stripes"))
    assert header["shapes"] == [[2, 16, 16]] * 2 + [[4, 16, 16]] * 3
    firsts = [layer["tokens"][0] for layer in header["layers"]]
    assert firsts == ["r4c4", "r6c6", "r0c0", "r2c2", "r0c0"]
    assert [layer["patches"]["top"] for layer in header["layers"]][1] == 6
    cap = attnviz.capture(attnviz.load(tiny("swin")), image=model_images.drawn("stripes"))
    rows = [5, 5, 0, 0, 0]
    own = [call.weights(batch=row).numpy() for call, row in zip(cap.calls, rows, strict=True)]
    shown = np.sqrt((arrays["weights"].astype(np.float64) / 65535) ** 2)
    flat = np.sqrt(np.concatenate([each.ravel() for each in own]))
    assert np.abs(shown - flat).max() <= 0.5 / 65535 + 1e-6
    assert arrays["visible"].size == 5 * 16 * 16


def test_what_lies_beyond_the_edge_is_marked(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text="", model=tiny("swinv2"), window="8")
    header, _ = sent(app)
    assert [shape[1] for shape in header["shapes"]] == [16, 16, 16, 16, 9]
    third = header["layers"][2]
    assert third["tokens"][:4] == ["r4c4", "r4c5", "[·]", "[·]"]
    assert third["special"][:4] == [0, 0, 1, 1]
    words = told(app)
    assert len(words["sentences"][0]) == 2 and len(words["sentences"][2]) == 4


@pytest.mark.some(1)
@pytest.mark.parametrize("page", ["steps", "masks"])
def test_a_head_that_a_layer_lacks_gives_way(visit: Visit, tiny: Tiny, page: str) -> None:
    app = visit(page, text="", model=tiny("swin"), layer="1", head="3", window="99")
    assert not app.error
    header, arrays = sent(app)
    assert (header["layer"], header["head"], header["n_heads"]) == (1, 1, 2)
    cap = attnviz.capture(attnviz.load(tiny("swin")), image=model_images.drawn("shapes"))
    assert app.number_input(KEY("window")).value == 15
    row = cap.calls[1].windows.covering(*cap.calls[0].windows.centre(15))
    shown = arrays["weights"] if page == "steps" else arrays["weights"][0]
    np.testing.assert_allclose(shown, cap.calls[1].weights(1, row), atol=1e-6)


def test_another_window_is_chosen(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text="", model=tiny("swin"), query="2", key="3")
    app.number_input(KEY("window")).set_value(15).run()
    assert not app.error
    assert parameters(app)["window"] == "15"
    assert "query" not in parameters(app)
    assert sent(app)[0]["layers"][0]["tokens"][-1] == "r15c15"


@pytest.mark.slow
def test_layers_that_differ_are_not_put_side_by_side(visit: Visit, tiny: Tiny) -> None:
    app = visit("compare", text="", model=tiny("swin"))
    assert [each.value for each in app.error] == [i18n.text("en", "error.uneven_layers")]


def test_output_of_a_model_with_windows(visit: Visit, tiny: Tiny) -> None:
    app = visit("output", text="", model=tiny("swin"))
    assert not app.error


def test_a_layer_without_windows_stands_beside_those_with(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", text="", model=tiny("vitdet"), window="3")
    assert not app.error
    header, _ = sent(app)
    assert header["shapes"] == [[3, 16, 16], [3, 36, 36]]
    assert header["layers"][0]["tokens"][:3] == ["r4c4", "r4c5", "[·]"]
    assert header["layers"][1]["tokens"][-1] == "r5c5"
    assert header["layers"][1]["patches"]["rows"] == 6
