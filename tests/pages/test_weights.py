"""The page From the weights: the library's numbers of a head, and what a model does not give."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.weights.fill import LEFT_OUT
from attnviz.types import Site
from tests.pages.conftest import Visit, beside_bar


def picture(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    found = [
        unpack(element.proto.bytes)
        for element in beside_bar(app)
        if element.proto.component_name == "attnviz.weights"
    ]
    assert found, [each.value for each in (*app.info, *app.error)]
    return found[0]


@pytest.mark.some(1)
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
        assert share["first"] == round(found.own_first * found.n_tokens)
        assert (share["n"], share["vocab"], share["draws"]) == (1280, 1280, 20)
        assert share["positive"] == pytest.approx(100 * found.own_positive, abs=1e-3)
        ends = (share["positive_low"], share["positive_high"])
        drawn = 100 * found.shuffled_positive
        assert ends == pytest.approx((drawn.min(), drawn.max()), abs=1e-3)
    distance = c.by_distance(head)
    assert header["distances"] == distance.distances.tolist()
    np.testing.assert_allclose(arrays["weights"], distance.weights, atol=1e-5)
    # evenly spread, the first row gives all to itself, the last 1/n to each
    longest = len(distance.distances)
    assert arrays["even"][0] == pytest.approx(np.mean(1 / np.arange(1, longest + 1)), abs=1e-6)
    for pair in header["read_by"]:
        composition = c.composition(pair["side"])
        assert pair["value"] == pytest.approx(composition.of(head, pair["name"]), abs=1e-6)
        assert pair["low"] <= composition.baseline <= pair["high"]
        among = composition.beside(head, pair["name"])
        assert (pair["rank"], pair["n"]) == (among.rank, among.n) and among.n > 1
        assert pair["median"] == pytest.approx(among.median, abs=1e-6)
        i, j = (composition.heads.index(Site.parse(name)) for name in (head, pair["name"]))
        sd = (pair["value"] ** 2 - composition.baseline**2) / composition.z[i, j]
        assert pair["high"] ** 2 == pytest.approx(composition.baseline**2 + 2 * sd, rel=1e-4)


def test_two_signs_of_a_copying_score_are_both_said_with_what_was_read(visit: Visit) -> None:
    header, _ = picture(visit("weights", model="stories", layer="2", head="1"))
    through, each, plain = header["sentences"][:3]
    assert through.startswith("With tokens read as their embedding plus what MLP 0 writes for each")
    assert "without layer-0 attention), L2.H1 raises" in through and "+0.99" in through
    assert "in total, not for every token" in through and "20 shuffles" in through
    found = attnviz.circuits("stories").ov("L2.H1", through="mlp0")
    assert found.own_first > 0.9
    assert f"rises for {found.own_positive:.0%} of 1,280 tokens" in each
    low, high = (
        100 * end for end in (found.shuffled_positive.min(), found.shuffled_positive.max())
    )
    assert f"(20 shuffles of the words: {low:.0f} to {high:.0f}%)" in each
    assert f"for {round(1280 * found.own_first):,} of them (chance: 1 of 1,280)" in each
    assert "embeddings the score is −0.59, of the other sign" in plain


@pytest.mark.slow
def test_a_head_that_copies_no_single_token_is_not_said_to(visit: Visit) -> None:
    header, _ = picture(visit("weights", model="stories", layer="3", head="1"))
    found = attnviz.circuits("stories").ov("L3.H1", through="mlp0")
    assert found.own_first < 0.01 and found.share > 0.4 and found.own_positive > 0.7
    said = header["sentences"][1]
    assert said.startswith("That holds for the sum. Token by token, the own logit rises for")
    assert f" {found.own_positive:.0%} of 1,280 tokens" in said
    first = round(1280 * found.own_first)
    assert said.endswith(f"for {first} of 1,280 (chance: 1 of 1,280).")


@pytest.mark.slow
def test_positions_that_spread_attention_evenly_are_said_to(visit: Visit) -> None:
    header, arrays = picture(visit("weights", model="stories", layer="3", head="1"))
    assert np.abs(arrays["weights"] - arrays["even"]).max() < 0.02
    assert any(
        one.startswith("Positions alone spread attention practically evenly")
        for one in header["sentences"]
    )
    (best,) = [one for one in header["sentences"] if "fits" in one]
    n = sum(
        int(np.isfinite(attnviz.circuits("stories").composition(side).z[:, 13]).sum())
        for side in ("q", "k", "v")
    )
    assert f"the largest of {n} (every earlier head" in best and n == 36


@pytest.mark.slow
def test_heads_are_listed_by_the_score_that_stands_beside_them(visit: Visit) -> None:
    header, arrays = picture(visit("weights", model="minilm", layer="2", head="1"))
    c = attnviz.circuits("minilm")
    sides = [c.composition(side) for side in ("q", "k", "v")]
    for name, into in (("reads", True), ("read_by", False)):
        shown = [pair["value"] for pair in header[name]]
        at = sides[0].heads.index(Site(2, 1))
        every = [side.values[:, at] if into else side.values[at] for side in sides]
        best = np.sort(np.nan_to_num(np.concatenate(every)))[::-1]
        np.testing.assert_allclose(shown, best[: len(shown)], atol=1e-6)
    most = np.nan_to_num([side.values for side in sides]).max((0, 1))
    np.testing.assert_allclose(arrays["composed"][12:], most[12:], atol=1e-6)
    assert np.isnan(arrays["composed"][:12]).all()


@pytest.mark.slow
def test_a_previous_token_head_is_seen_by_its_distance(visit: Visit) -> None:
    header, arrays = picture(visit("weights", model="stories-llama", layer="0", head="4"))
    said = header["sentences"]
    assert any(
        one.startswith("By positions alone the weight 1 token back lies furthest above")
        and "1.00 on average" in one
        for one in said
    )
    assert int(arrays["weights"].argmax()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("model", ["minilm", "shapes", "translator", "sentiment"])
def test_a_model_without_token_circuits_has_composition(visit: Visit, model: str) -> None:
    header, arrays = picture(visit("weights", model=model, layer="1", head="0"))
    assert header["shares"] == []
    assert np.isnan(arrays["ov"]).all()
    assert header["sentences"][0].startswith("No copying score for ")
    assert header["reads"]


@pytest.mark.some(1)
@pytest.mark.parametrize("model", ["stories", "stories-llama", "minilm"])
def test_what_the_library_leaves_out_is_said(model: str) -> None:
    fixed = [line for line in attnviz.circuits(model).folded.left_out if "share one" not in line]
    for line in fixed:
        assert any(line.startswith(start) for start in LEFT_OUT), line
    for name in LEFT_OUT.values():
        assert i18n.has(f"weights.left_{name}")
