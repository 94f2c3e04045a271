"""The page From the weights: the library's numbers of a head, and what a model does not give."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.weights.fill import LEFT_OUT
from tests.pages.conftest import Visit, beside_bar


def picture(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    found = [
        unpack(element.proto.bytes)
        for element in beside_bar(app)
        if element.proto.component_name == "attnviz.weights"
    ]
    assert found, [each.value for each in (*app.info, *app.error)]
    return found[0]


@pytest.mark.parametrize(("model", "head"), [("stories", "L2.H1"), ("stories-llama", "L0.H4")])
def test_the_numbers_of_a_head_are_those_of_the_library(
    visit: Visit, model: str, head: str
) -> None:
    header, arrays = picture(visit("weights", model=model, layer=head[1], head=head[-1]))
    c = attnviz.circuits(model)
    assert header["heads"][header["chosen"]]["name"] == head
    table = c.to_dict()
    for name in ("ov", "ov_mlp0", "qk", "qk_mlp0", "previous"):
        np.testing.assert_allclose(arrays[name], table[name], atol=1e-4)
    for share in header["shares"]:
        found = getattr(c, share["circuit"].lower())(head, share["through"])
        assert share["share"] == pytest.approx(found.share, abs=1e-4)
        assert (share["low"], share["high"]) == pytest.approx(
            (found.shuffled.min(), found.shuffled.max()), abs=1e-4
        )
    distance = c.by_distance(head)
    n = len(header["distances"])
    assert header["distances"] == list(range(n))
    np.testing.assert_allclose(arrays["weights"], distance.weights[:n], atol=1e-5)
    # evenly spread, the first row gives all to itself, the last 1/n to each
    longest = len(distance.distances)
    assert arrays["even"][0] == pytest.approx(np.mean(1 / np.arange(1, longest + 1)), abs=1e-6)
    for pair in header["read_by"]:
        composition = c.composition(pair["side"])
        assert pair["value"] == pytest.approx(composition.of(head, pair["name"]), abs=1e-6)
        assert pair["low"] <= composition.baseline <= pair["high"]
        among = composition.beside(head, pair["name"])
        assert (pair["rank"], pair["n"]) == (among.rank, among.n) and among.n > 1
        sd = (pair["value"] ** 2 - composition.baseline**2) / pair["z"]
        assert pair["high"] ** 2 == pytest.approx(composition.baseline**2 + 2 * sd, rel=1e-4)


def test_two_signs_of_a_copying_score_are_both_said(visit: Visit) -> None:
    header, _ = picture(visit("weights", model="stories", layer="2", head="1"))
    said = header["sentences"][0]
    assert "−0.59" in said and "+0.99" in said and "disagree" in said


def test_a_previous_token_head_is_seen_by_its_distance(visit: Visit) -> None:
    header, arrays = picture(visit("weights", model="stories-llama", layer="0", head="4"))
    assert header["sentences"][1].startswith("Positions alone send most weight 1 token back: 1.00")
    assert int(arrays["weights"].argmax()) == 1


@pytest.mark.parametrize("model", ["minilm", "shapes", "translator", "sentiment"])
def test_a_model_without_token_circuits_has_composition(visit: Visit, model: str) -> None:
    header, arrays = picture(visit("weights", model=model, layer="1", head="0"))
    assert header["shares"] == []
    assert np.isnan(arrays["ov"]).all()
    assert header["sentences"][0].startswith("No circuit from token to token for")
    assert header["reads"]


@pytest.mark.parametrize("model", ["stories", "stories-llama", "minilm"])
def test_what_the_library_leaves_out_is_said(model: str) -> None:
    fixed = [line for line in attnviz.circuits(model).folded.left_out if "share one" not in line]
    for line in fixed:
        assert any(line.startswith(start) for start in LEFT_OUT), line
    for name in LEFT_OUT.values():
        assert i18n.has(f"weights.left_{name}")
