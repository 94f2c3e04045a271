"""Edits: their text form, and stages computed from edited numbers without touching the capture."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

import attnviz
from attnviz.attention.capture import Capture
from attnviz.attention.edits import Edit, parse, write
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from tests.support.folders import save

TEXT = "The cat sat."
LAYER, HEAD = 2, 7


def fingerprint(cap: Capture) -> str:
    """A hash of every tensor that a capture keeps."""
    digest = hashlib.sha256()
    for call in cap.calls:
        for tensor in call.inputs.tensors():
            digest.update(tensor.contiguous().numpy().tobytes())
        digest.update(call.output.contiguous().numpy().tobytes())
    return digest.hexdigest()


@pytest.fixture
def cap(minilm: LoadedModel) -> Capture:
    return attnviz.capture(minilm, TEXT)


def test_the_text_form_comes_back() -> None:
    edits = (Edit("q", 3, 5, 0.7), Edit("masked", 2, 4, -math.inf), Edit("scores", 0, 1, -2.5))
    assert write(edits) == "q.3.5=0.7,masked.2.4=-inf,scores.0.1=-2.5"
    assert parse(write(edits)) == edits
    assert parse("") == ()


def test_of_two_edits_of_one_entry_the_later_counts() -> None:
    assert parse("q.1.2=3,q.1.2=4") == (Edit("q", 1, 2, 4.0),)


def test_a_whole_row_of_the_mask_has_a_star_for_its_column() -> None:
    edits = (Edit("masked", 2, None, -math.inf), Edit("masked", 3, None, math.inf))
    assert write(edits) == "masked.2.*=-inf,masked.3.*=inf"
    assert parse(write(edits)) == edits
    # what is written again counts last, so that it is laid over what came between
    again = parse("masked.2.*=-inf,masked.2.1=0.5,masked.2.*=-inf")
    assert again == (Edit("masked", 2, 1, 0.5), Edit("masked", 2, None, -math.inf))


NONSENSE = [
    *("q.1.*=3", "q.1.*=inf", "masked.1.*=0.5", "masked.1.*=nan", "masked.1.2=inf", "masked.*.1=3"),
    *("x.1.2=3", "q.1=3", "q.1.2", "q.-1.2=3", "q.1.2=nan", "q.1.2=inf", "scores.1.2=-inf"),
    *("q.1.2=1e9", "q.1.2=<b>", "weights.0.0=1", "q.1.2=3" + " " * 5000),
    ",".join(f"q.{row}.0=1" for row in range(65)),
]


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text)
    assert error.value.code == "bad_edit"


def test_what_follows_an_edited_query_equals_torch_on_the_edited_tensor(cap: Capture) -> None:
    call = cap.call(LAYER)
    before = fingerprint(cap)
    edits = parse("q.1.5=2.5,k.3.0=-1,v.2.31=4")
    steps = attnviz.derive(call, HEAD, edits=edits)
    q, k, v = (of.clone() for of in call.inputs.qkv(HEAD))
    q[1, 5], k[3, 0], v[2, 31] = 2.5, -1.0, 4.0
    wanted = scaled_dot_product_attention(q[None], k[None], v[None])[0]
    assert torch.allclose(steps.mixed, wanted, atol=1e-6)
    assert torch.equal(steps.concat[:, steps.head_columns], steps.mixed)
    original = attnviz.derive(call, HEAD)
    assert not torch.equal(steps.mixed, original.mixed)
    others = torch.ones(steps.concat.shape[1], dtype=torch.bool)
    others[steps.head_columns] = False
    assert torch.equal(steps.concat[:, others], original.concat[:, others])
    assert fingerprint(cap) == before


def test_the_projected_output_moves_by_the_heads_rows_of_w_o(cap: Capture) -> None:
    original = attnviz.derive(cap.call(LAYER), HEAD)
    steps = attnviz.derive(cap.call(LAYER), HEAD, edits=parse("scores.1.2=9"))
    assert original.projected is not None and steps.projected is not None
    assert steps.w_o is not None
    moved = (steps.mixed - original.mixed) @ steps.w_o
    assert torch.allclose(steps.projected - original.projected, moved, atol=1e-5)


def test_the_other_heads_are_taken_over_and_not_computed_again(
    cap: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, edits = cap.call(LAYER), parse("q.2.3=4.5")
    alone = attnviz.derive(call, HEAD, edits=edits)
    before = attnviz.derive(call, HEAD)
    assert alone.projected is not None and before.projected is not None
    computed = []
    of_head = type(call.inputs).stages
    monkeypatch.setattr(
        type(call.inputs),
        "stages",
        lambda self, head, *rest, **more: (
            computed.append(head) or of_head(self, head, *rest, **more)
        ),
    )
    beside = attnviz.derive(call, HEAD, edits=edits, before=before)
    for view, wanted in zip(beside.views(), alone.views(), strict=True):
        assert np.array_equal(view.values, wanted.values), view.stage
    assert computed == [HEAD]
    assert not torch.equal(before.concat, beside.concat)


def test_a_blocked_cell_gets_no_weight_and_its_row_still_sums_to_one(cap: Capture) -> None:
    steps = attnviz.derive(cap.call(LAYER), HEAD, edits=parse("masked.1.2=-inf"))
    original = attnviz.derive(cap.call(LAYER), HEAD)
    assert steps.weights[1, 2] == 0
    assert float(steps.weights[1].sum()) == pytest.approx(1, abs=1e-6)
    rest = original.weights[1].clone()
    rest[2] = 0
    assert torch.allclose(steps.weights[1], rest / rest.sum(), atol=1e-6)
    assert torch.equal(steps.weights[0], original.weights[0])


def test_edited_numbers_claim_no_agreement_with_the_model(cap: Capture) -> None:
    steps = attnviz.derive(cap.call(LAYER), HEAD, edits=parse("q.0.0=1"))
    assert set(steps.errors) == {"k", "v"}


def test_an_entry_that_does_not_exist_is_refused(cap: Capture) -> None:
    with pytest.raises(BadInput, match="32 entries"):
        attnviz.derive(cap.call(LAYER), HEAD, edits=parse("q.0.32=1"))


def test_a_row_is_blocked_and_another_opened(tmp_path: Path) -> None:
    """In a causal model: a blocked query attends to nothing, an opened one also to the future."""
    call = attnviz.capture(attnviz.load(str(save(tmp_path, "gpt2"))), "the cat sat on a mat").call(
        1
    )
    plain = attnviz.derive(call, 2)
    steps = attnviz.derive(call, 2, edits=parse("masked.2.*=-inf,masked.3.*=inf,masked.3.5=-inf"))
    assert steps.weights[2].tolist() == [0.0] * 6
    wanted = plain.scaled[3].clone()
    wanted[5] = -math.inf
    assert torch.allclose(steps.weights[3], wanted.softmax(dim=-1), atol=1e-6)
    assert float(steps.weights[3, 4]) > 0 == float(plain.weights[3, 4])
    for row in (0, 1, 4, 5):
        assert torch.equal(steps.weights[row], plain.weights[row])
    with pytest.raises(BadInput):
        attnviz.derive(call, 2, edits=parse("masked.6.*=-inf"))
