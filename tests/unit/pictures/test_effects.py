"""Looks and matters of `pictures/effects` and `shared/effects.js`, against runs of the model."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz import changes
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures import effects
from attnviz.pictures.effects import EffectsView
from attnviz.pictures.group import heads, ranking
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.types import Site
from tests.support.node import in_node, needs_node

ANIMAL = "The animal didn't cross the street because it was too tired."
IT, ITS_NOUN = 10, 2
STORE = "When Mary and John went to the store, John gave a book to"
TO, MARY = 14, 2
LOOKS = """async ({ codes, shape, visible, query, key }) => {
    const { cellOf, lookAt } = await load("shared/effects.js");
    const weights = { data: Uint16Array.from(codes), shape, dtype: "u16" };
    const seen = { data: Uint8Array.from(visible), shape: [1, shape[2], shape[3]], dtype: "u8" };
    const looks = [];
    for (let layer = 0; layer < shape[0]; layer++)
        for (let head = 0; head < shape[1]; head++)
            looks.push(lookAt(weights, seen, { layer, head }, { query, key }));
    const first = { layer: 0, head: 0, query: null, key: null };
    const strongest = cellOf(weights, { ...first, query });
    const blocked = lookAt(weights, seen, first, { query: 0, key });
    return [looks, strongest, cellOf(weights, first), blocked];
}"""
FACTS = """async ({ weight, others, effect, least, cell = null }) => {
    const append = function (...nodes) { this.children.push(...nodes); };
    const setAttribute = function (name, value) { this[name] = value; };
    const createElement = () => ({ style: {}, dataset: {}, children: [], append, setAttribute });
    globalThis.document = { createElement };
    globalThis.Node = Object;
    const { factNodes } = await load("shared/effects.js");
    const kinds = ["both", "both_head", "looks", "looks_head", "matters", "alike", "elsewhere"];
    const verdicts = Object.fromEntries(kinds.map((kind) => [`verdict_${kind}`, kind]));
    const strings = { look: "{weight}|{others}", ...verdicts };
    const known = { heads: 1, cell, values: [effect], least, sentences: [["moves"]] };
    const at = { layer: 0, head: 0 };
    const nodes = factNodes(strings, { query: "a", key: "b" }, { weight, others }, known, at);
    return nodes.slice(2).map(({ children }) => children[0]);
}"""


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


def shown(model: LoadedModel, text: str) -> PageContext:
    captured = replace(AppCapture.alone(attnviz.capture(model, text), model), key=text)
    return PageContext("en", captured, captured.groups[0])


def measured(model: LoadedModel, text: str) -> EffectsView:
    run = attnviz.experiment(model, text)
    return effects.of_heads(shown(model, text), run.reader, run.effects())


def moved_without(model: LoadedModel, text: str, head: str) -> float:
    """How far the answer moves by one run of the model with the head's mean in its place."""
    change = changes.ablate(Site.parse(head), "mean")
    before = attnviz.capture(model, text)
    after = attnviz.capture(model, text, changes=[change])
    if before.logits is not None and after.logits is not None:
        rows = [one.logits[0, -1].softmax(-1) for one in (before, after)]
        return float((rows[1] - rows[0]).abs().sum() / 2)
    vectors = [torch.as_tensor(one.hidden).mean(1) for one in (before, after)]
    return 1 - float(torch.nn.functional.cosine_similarity(*vectors)[0])


def test_stories_l2h1_looks_and_matters(stories: LoadedModel) -> None:
    view = measured(stories, STORE)
    expected = moved_without(stories, STORE, "L2.H1")
    assert view.effects[2, 1] == pytest.approx(expected, abs=1e-5)
    assert expected == pytest.approx(0.5485, abs=1e-4)
    assert view.most == pytest.approx(moved_without(stories, STORE, "L0.H0"), abs=1e-5)
    others = np.delete(view.effects.ravel(), 0)  # all but the strongest, which is L0.H0
    assert view.median == pytest.approx(float(np.median(others)), rel=1e-6)
    assert view.effects[2, 1] > view.least == pytest.approx(0.05 * view.most)
    assert view.least > 3 * view.median
    points = f"{100 * view.effects[2, 1]:.1f} percentage points"
    assert points in view.sentences[2][1] and "the 15 others: 0.23 points" in view.sentences[2][1]
    weakest = np.unravel_index(view.effects.argmin(), view.effects.shape)
    assert "the 15 others: 0.25 points at the median" in view.sentences[weakest[0]][weakest[1]]
    assert "L0.H0" in view.legend and "the median of the others, 0.23 points" in view.legend
    link = next(row for row in ranking.links(shown(stories, STORE).group, TO, MARY))
    assert (str(link.head), round(link.share, 2)) == ("L2.H1", 0.98)


@pytest.mark.slow
def test_minilm_l3h1_looks_and_does_not_matter(minilm: LoadedModel) -> None:
    view = measured(minilm, ANIMAL)
    assert view.effects[3, 1] < view.least
    assert view.effects[5, 11] == pytest.approx(view.most)
    assert "0.0025" in view.sentences[3][1] and "0.0018" in view.sentences[3][1]
    first = ranking.links(shown(minilm, ANIMAL).group, IT, ITS_NOUN)[0]
    assert (str(first.head), round(first.share, 2), round(first.control, 2)) == (
        "L3.H1",
        0.68,
        0.11,
    )


def test_effects_travel_under_the_name_of_the_heads(stories: LoadedModel) -> None:
    view = measured(stories, STORE)
    header, arrays = unpack(packed(effects.CANVAS, view, "en"))
    assert header["capture"] == heads.capture_name(shown(stories, STORE))
    assert header["capture"] != heads.capture_name(shown(stories, ANIMAL))
    np.testing.assert_array_equal(arrays["effects"], view.effects)


@needs_node
def test_look_at_is_the_link_of_the_library(stories: LoadedModel) -> None:
    """`lookAt` has the weight and the mean of the other rows that may look there."""
    context = shown(stories, STORE)
    weights = context.captured.capture.all_weights()
    visible = np.tril(np.ones(weights.shape[2:], np.uint8))
    for query, key in ((TO, MARY), (7, 6)):
        looks, strongest, nothing, blocked = in_node(
            LOOKS,
            {
                "codes": quantise(weights, 16).ravel().tolist(),
                "shape": weights.shape,
                "visible": visible.ravel().tolist(),
                "query": query,
                "key": key,
            },
        )
        links = {row.head: row for row in ranking.links(context.group, query, key)}
        found = [links[head] for head in sorted(links, key=lambda head: (head.layer, head.head))]
        assert len(looks) == len(found) == 16
        for look, link in zip(looks, found, strict=True):
            assert look["weight"] == pytest.approx(link.share, abs=2e-5)
            assert look["others"] == pytest.approx(link.control, abs=2e-5)
        assert strongest == {"query": query, "key": int(weights[0, 0, query].argmax())}
        assert nothing is None
        assert blocked is None  # the first row of a decoder may not look ahead


@needs_node
@pytest.mark.parametrize(
    ("weight", "others", "effect", "of_head", "of_look"),
    [
        (0.98, 0.08, 0.549, ["both_head"], ["both"]),
        (0.68, 0.11, 0.0025, ["looks_head"], ["looks"]),
        (0.01, 0.08, 0.5, ["elsewhere"], ["matters"]),
        (0.6, 0.5, 0.5, ["both_head"], ["alike"]),  # a stripe: all rows look there
        (0.14, 0.0, 0.001, [], []),
    ],
)
def test_fact_nodes_say_of_a_look_that_it_matters_only_where_it_is_measured(
    weight: float, others: float, effect: float, of_head: list[str], of_look: list[str]
) -> None:
    numbers = {"weight": weight, "others": others, "effect": effect, "least": 0.0057}
    assert in_node(FACTS, numbers) == of_head
    assert in_node(FACTS, numbers | {"cell": [1, 0]}) == of_look
