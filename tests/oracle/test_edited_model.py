"""Edits and named masks made while the model runs, against hooks that know nothing of attnviz.

`stories` computes q, k and v of all heads in one layer, `c_attn`; a hook that writes into its
output is the reference for an edited entry, and a mask given to the model for a mask of all heads.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz
from attnviz.changes import Change, Site, cut, edit, mask, parse
from attnviz.errors import BadInput
from attnviz.experiment.answers import answer_of
from attnviz.experiment.changed_run import changed_numbers
from attnviz.experiment.clean_run import CleanRun
from attnviz.masks import combine, named, spec
from attnviz.models.loaded_model import LoadedModel

STORE = "When Mary and John went to the store, John gave a drink to"
HEAD = Site(1, 2)
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def lm() -> LoadedModel:
    return attnviz.load("stories")


@pytest.fixture(scope="module")
def prepared(lm: LoadedModel) -> CleanRun:
    return attnviz.experiment(lm, STORE).prepared


def logits_of(lm: LoadedModel, *changes: Change) -> Tensor:
    logits = attnviz.capture(lm, STORE, changes=changes).logits
    assert logits is not None
    return logits[0]


def hooked(lm: LoadedModel, part: int, row: int, column: int, to: float) -> Tensor:
    """The logits with one entry of q (part 0), k (1) or v (2) of `HEAD` written by a hook."""
    layer, head = lm.model.transformer.h[HEAD.layer].attn, HEAD.head or 0
    place = part * layer.embed_dim + head * layer.head_dim + column

    def write(_module: object, _args: object, output: Tensor) -> Tensor:
        written = output.clone()
        written[:, row, place] = to
        return written

    handle = layer.c_attn.register_forward_hook(write)
    try:
        with torch.no_grad():
            ids = lm.text_tokenizer()(STORE, return_tensors="pt").input_ids
            logits: Tensor = lm.model(ids).logits[0]
            return logits
    finally:
        handle.remove()


@pytest.mark.parametrize(("part", "stage"), list(enumerate("qkv")))
def test_an_edited_entry_moves_the_model_as_a_hook_does(
    lm: LoadedModel, part: int, stage: str
) -> None:
    row, column, to = 7, 5, 6.5
    wanted = hooked(lm, part, row, column, to)
    found = logits_of(lm, edit(HEAD, stage, row, column, to))
    assert (found - wanted).abs().max() < ROUNDING
    assert (found - logits_of(lm)).abs().max() > 100 * ROUNDING


def test_an_edited_score_enters_the_softmax_of_the_run(lm: LoadedModel) -> None:
    """The row's softmax of q·k / √d_head, one score replaced before the division."""
    plain, row, to = attnviz.capture(lm, STORE), 9, 40.0
    steps = plain.head(str(HEAD))
    changed = attnviz.capture(lm, STORE, changes=parse(f"{HEAD}.scores.{row}.4={to}"))
    scores = steps.scores[row].clone()
    scores[4] = to
    scores[row + 1 :] = -math.inf
    wanted = (scores / math.sqrt(steps.q.shape[1])).softmax(-1)
    np.testing.assert_allclose(changed.weights(str(HEAD))[row], wanted.numpy(), atol=1e-6)
    assert changed.verify().ok


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("masked.{last}.3=-inf", lambda last: cut(HEAD, last, 3)),
        ("masked.{last}.*=-inf", lambda last: cut(HEAD, query=last)),
    ],
)
def test_a_blocked_cell_moves_the_model_as_a_cut_edge_does(
    lm: LoadedModel, prepared: CleanRun, text: str, same: Callable[[int], Change]
) -> None:
    last = prepared.n_token - 1
    found = logits_of(lm, *parse(f"{HEAD}.{text.format(last=last)}"))
    assert (found - logits_of(lm, same(last))).abs().max() < ROUNDING


def test_an_opened_row_attends_to_the_future(lm: LoadedModel) -> None:
    n = attnviz.capture(lm, STORE).call(0).n_query
    open_row = np.tril(np.ones((n, n), dtype=np.bool_))
    open_row[3] = True
    opened = logits_of(lm, edit(HEAD, "masked", 3, None, math.inf))
    assert (opened - logits_of(lm, mask(HEAD, open_row))).abs().max() < ROUNDING
    assert (opened[3] - logits_of(lm)[3]).abs().max() > 10 * ROUNDING


@pytest.mark.parametrize(
    "text", ["causal+window:3", "prefix:4", "causal+block:5", "custom:+2.0:9.1-5.1:5.1", "none"]
)
def test_named_masks_of_all_heads_are_the_models_own_mask(lm: LoadedModel, text: str) -> None:
    """transformers takes a 4-dimensional mask as it is: 0 where a query may attend."""
    ids = lm.text_tokenizer()(STORE, return_tensors="pt").input_ids
    n = ids.shape[1]
    parts = named(spec.parse_joined(text), n, torch.ones(n, dtype=torch.bool))
    allowed = combine(torch.ones(n, n, dtype=torch.bool), *parts.values())
    added = torch.zeros(n, n).masked_fill(~allowed, torch.finfo(torch.float32).min)
    with torch.no_grad():
        wanted = lm.model(ids, attention_mask=added[None, None]).logits[0]
    layers = range(lm.model.config.n_layer)
    found = logits_of(lm, *parse(",".join(f"L{layer}.mask={text}" for layer in layers)))
    rows = allowed.any(-1)
    assert (found - wanted)[rows].abs().max() < ROUNDING


def test_padding_is_blocked_where_the_mask_names_it() -> None:
    """Beside a longer text an encoder hides the padding itself: that mask is the reference."""
    encoder, texts = attnviz.load("sentiment"), ["a good film", "a film that is not good at all"]
    plain = attnviz.capture(encoder, texts).call(0)
    named_so, opened = (
        attnviz.capture(encoder, texts, changes=parse(f"L0.mask={text}")).call(0)
        for text in ("padding", "none")
    )
    for batch in range(2):
        assert torch.equal(named_so.weights(0, batch), plain.weights(0, batch))
    assert (opened.weights(0, 0) - plain.weights(0, 0)).abs().max() > 100 * ROUNDING


@pytest.mark.parametrize("text", ["q.99.0=1", "q.0.99=1", "scores.0.99=1", "masked.99.*=-inf"])
def test_an_entry_outside_the_run_is_refused(lm: LoadedModel, text: str) -> None:
    with pytest.raises(BadInput) as error:
        logits_of(lm, *parse(f"{HEAD}.{text}"))
    assert error.value.code == "edit_outside"


# --- the answer, beside random changes of the same size -----------------------------------------


def test_the_numbers_move_as_the_captured_run_says(lm: LoadedModel, prepared: CleanRun) -> None:
    change = edit(HEAD, "q", prepared.n_token - 1, 5, 9.0)
    found = changed_numbers(prepared, answer_of(prepared).read, [change], control="directions")
    wanted = logits_of(lm, change)[-1].softmax(-1).double().numpy()
    assert np.abs(found.after - wanted).max() < ROUNDING
    assert len(found.controls) == 8
    assert not found.control_heads


def test_the_directions_are_as_long_as_the_change_and_drawn_from_the_seed(
    prepared: CleanRun,
) -> None:
    change, answer = edit(HEAD, "v", 0, 3, 50.0), answer_of(prepared)
    first, again = (
        changed_numbers(prepared, answer.read, [change], control="directions") for _ in range(2)
    )
    other = changed_numbers(prepared, answer.read, [change], control="directions", seed=1)
    assert np.array_equal(first.controls, again.controls)
    assert np.abs(first.controls - other.controls).max() > 0
    assert np.abs(first.controls[0] - first.before).max() > 0


def test_an_edit_that_changes_nothing_leaves_the_bits_of_the_answer(prepared: CleanRun) -> None:
    own = float(prepared.call_of(HEAD).stages(HEAD.head or 0)["q"][2, 3])
    change, answer = edit(HEAD, "q", 2, 3, own), answer_of(prepared)
    found = changed_numbers(prepared, answer.read, [change], control="directions")
    assert np.array_equal(found.before, found.after)
    assert all(np.array_equal(found.before, row) for row in found.controls)
