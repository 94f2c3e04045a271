"""`Capture`: heads found by name, refusals that say what exists, tables, short descriptions."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz.attention.capture import Capture, MissingCall
from attnviz.errors import BadInput, CaptureMismatch
from attnviz.types import MEASURES, HeadId
from attnviz.vision.windows import Windows
from tests.support.calls import call, capture

ROUNDING = 1e-7  # heads that are computed together, and each alone


@pytest.fixture
def decoder() -> Capture:
    return capture(*(call(layer, causal=True) for layer in range(4)))


@pytest.fixture
def translator() -> Capture:
    """Two layers of encoder, three of decoder, with other sizes and numbers of heads."""
    return capture(
        *(call(layer, stack="encoder", n_head=2, n_query=5) for layer in range(2)),
        *(call(layer, stack="decoder", n_head=3, n_query=4, causal=True) for layer in range(3)),
        *(
            call(layer, stack="decoder", kind="cross", n_head=3, n_query=4, n_key=5)
            for layer in range(3)
        ),
    )


# --- one head -----------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["L2.H1", HeadId(2, 1), (2, 1)])
def test_weights_and_head_take_a_head_by_its_name(decoder: Capture, head: HeadId) -> None:
    expected = decoder.weights(2, 1)
    np.testing.assert_array_equal(decoder.weights(head), expected)
    steps = decoder.head(head)
    assert steps.id == HeadId(2, 1)
    np.testing.assert_array_equal(steps["weights"], expected)


@pytest.mark.parametrize("text", ["5.11", "L5", "l5.h11", "L5.H1 ", "L٥.H1", "L5.H-1", ""])
def test_a_text_that_names_no_head_is_refused(decoder: Capture, text: str) -> None:
    with pytest.raises(BadInput, match=r"L5\.H11"):
        HeadId.parse(text)
    with pytest.raises(BadInput, match=r"L5\.H11"):
        decoder.weights(text)


def test_a_head_is_given_once(decoder: Capture) -> None:
    with pytest.raises(BadInput, match="give one of them"):
        decoder.weights("L1.H2", 2)


def test_a_numpy_number_is_a_layer(decoder: Capture) -> None:
    assert decoder.weights(np.int64(1), np.int64(2)).shape == (7, 7)


# --- stacks and layers --------------------------------------------------------------------------


def test_all_weights_has_the_layers_of_one_stack(translator: Capture) -> None:
    assert translator.all_weights().shape == (2, 2, 5, 5)
    assert translator.all_weights(stack="decoder").shape == (3, 3, 4, 4)
    cross = translator.all_weights(kind="cross")
    assert cross.shape == (3, 3, 4, 5)
    one = translator.weights("L2.H1", kind="cross")
    np.testing.assert_allclose(cross[2, 1], one, rtol=1e-6, atol=ROUNDING)


def test_call_takes_its_layer_from_the_first_stack(translator: Capture) -> None:
    assert translator.n_layers == 2
    assert translator.call(1).stack == "encoder"
    with pytest.raises(BadInput, match="layer 2 does not exist: give a whole number from 0 to 1"):
        translator.call(2)
    assert translator.call(2, stack="decoder").n_query == 4


def test_all_weights_refuses_layers_of_different_shapes() -> None:
    cap = capture(call(0, n_query=6), call(1, n_head=2, n_query=6))
    with pytest.raises(BadInput, match=r"differ in shape.*\(2, 6, 6\), \(3, 6, 6\)"):
        cap.all_weights()


def test_a_layer_with_several_calls_asks_for_an_index() -> None:
    first, second = call(0), call(0, index=1)
    cap = capture(first, second, call(1))
    with pytest.raises(BadInput, match="layer 0 has 2 recorded calls.*index=0 to 1"):
        cap.weights(0)
    assert cap.call(0, index=1) is second
    np.testing.assert_array_equal(cap.weights("L0.H1", index=0), first.weights(1).numpy())
    np.testing.assert_array_equal(cap.head("L0.H1", index=1).weights, second.weights(1))
    for index in (2, -1):
        with pytest.raises(BadInput, match="2 recorded calls"):
            cap.call(0, index=index)
    assert cap.call(1, index=0).layer == 1


# --- tokens -------------------------------------------------------------------------------------


def test_tokens_of_refuses_a_stack_that_does_not_exist(
    translator: Capture, decoder: Capture
) -> None:
    assert len(translator.tokens_of(stack="decoder")) == 4
    with pytest.raises(BadInput, match="no stack 'vision'; this capture has encoder, decoder"):
        translator.tokens_of(stack="vision")
    with pytest.raises(BadInput, match="no stack 'vision'"):
        decoder.tokens_of(stack="vision")


def test_windows_are_counted_and_checked() -> None:
    windowed = replace(call(0, n_query=4, n_batch=8), windows=Windows(4, 2, 0, (4, 4)))
    cap = capture(windowed)
    assert cap.n_batch == 2, "two pictures of four windows each"
    assert cap.key_tokens(windowed, 5).labels == cap.query_tokens(windowed, 1).labels
    for tokens in (cap.query_tokens, cap.key_tokens):
        with pytest.raises(BadInput, match="batch 8 does not exist"):
            tokens(windowed, 8)


# --- tables -------------------------------------------------------------------------------------


def test_table_has_a_row_for_each_head(translator: Capture) -> None:
    table = translator.table()
    assert len(table) == 2 * 2 + 3 * 3 + 3 * 3
    assert tuple(table.columns) == ("stack", "kind", "layer", "head", *MEASURES)
    cross = translator.table(["peak"], kind="cross")
    assert set(cross["kind"]) == {"cross"} and cross.measures == ("peak",)
    peaks = translator.all_weights(kind="cross").max(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(cross.grid("peak"), peaks, rtol=1e-6)


def test_table_numbers_the_calls_of_a_layer_with_several() -> None:
    table = capture(call(0), call(0, index=1)).table(["peak"])
    assert table["index"].tolist() == [0, 0, 0, 1, 1, 1]


def test_table_is_the_mean_over_the_texts_of_a_batch() -> None:
    cap = capture(call(0, n_batch=3))
    rows = [cap.table(["entropy"], batch=batch)["entropy"] for batch in range(3)]
    np.testing.assert_allclose(cap.table(["entropy"])["entropy"], np.mean(rows, axis=0), rtol=1e-6)
    with pytest.raises(BadInput, match="batch 3 does not exist"):
        cap.table(batch=3)


def test_table_knows_what_a_causal_mask_hides(decoder: Capture) -> None:
    table = decoder.table()
    assert np.isnan(table["next"]).all(), "no query can see the next token"
    assert np.isfinite(table["previous"]).all()


# --- the check ----------------------------------------------------------------------------------


def test_verify_names_the_call_that_is_off(decoder: Capture) -> None:
    assert decoder.verify().ok
    decoder.verify().require()
    output = decoder.calls[2].output.clone()
    output[0, 1, 1] += 0.5
    wrong = replace(decoder.calls[2], output=output)
    cap = replace(decoder, calls=(*decoder.calls[:2], wrong, decoder.calls[3]))
    verification = cap.verify()
    assert not verification.ok and verification.worst.call == "model.2.self#0"
    assert verification.errors["model.2.self#0"] == pytest.approx(0.5, abs=1e-5)
    assert set(verification.errors) == set(verification.tolerances)
    with pytest.raises(CaptureMismatch, match=r"model\.2.*do not trust"):
        verification.require()


# --- short descriptions -------------------------------------------------------------------------


def test_public_objects_are_described_in_one_line(translator: Capture) -> None:
    steps = translator.head("L1.H0")
    objects = [
        translator,
        translator.calls[0],
        translator.calls[0].inputs,
        translator.tokens,
        translator.table(),
        translator.verify(),
        attnviz.metrics.score(translator),
        steps,
        steps.view("weights"),
        attnviz.tiles.build(translator.calls[0], 1),
        MissingCall("x", "y"),
    ]
    for described in objects:
        line = repr(described)
        assert "\n" not in line and 10 < len(line) <= 300, line
        assert type(described).__name__ in line or described is translator.tokens, line
    assert repr(translator).startswith(
        "Capture of made-up: 5 tokens (the cat sat on a); encoder self 2 layers × 2 heads, "
    )


def test_cards_show_text_as_text(decoder: Capture) -> None:
    nasty = "<img src=x onerror=alert(1)>\u202e"
    tokens = replace(decoder.tokens, labels=(nasty, *decoder.tokens.labels[1:]))
    cap = replace(
        decoder,
        tokens_by_stack={None: (tokens,)},
        missing=(MissingCall("</script><b>", nasty),),
    )
    shown = [cap, tokens, cap.head("L0.H0"), cap.table()]
    for card in (thing._repr_html_() for thing in shown):
        assert "<img" not in card and "</script>" not in card and "\u202e" not in card
        assert len(card) < 20_000
    assert "missing" in cap._repr_html_()


def test_a_card_of_many_heads_is_cut(decoder: Capture) -> None:
    card = capture(*(call(layer, n_head=12) for layer in range(12))).table()._repr_html_()
    assert "… and 132 more rows" in card and card.count("<tr>") == 13


# --- steps --------------------------------------------------------------------------------------


def test_steps_give_a_stage_by_its_name(decoder: Capture) -> None:
    steps = decoder.head((1, 2))
    assert isinstance(steps["scores"], np.ndarray)
    assert torch.equal(torch.from_numpy(steps["mixed"]), steps.mixed)
    np.testing.assert_array_equal(steps.view("k").values, steps["k"])
    with pytest.raises(BadInput, match="stage is 'softmax'; give one of x,"):
        steps["softmax"]
    with pytest.raises(BadInput, match="L1.H2 has no stage 'capped'.*it has q, k, v, scores"):
        steps["capped"]
