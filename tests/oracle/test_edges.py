"""Effects of single edges: against captures with that edge cut, and planted models."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz
from attnviz.capture.changed.layout import Layout
from attnviz.changes import ablate, cut, pattern
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.experiment.answer_measures import Divergence
from attnviz.models.loaded_model import LoadedModel
from tests.support.questions import MARY, STORE

# rows of a batch differ from one row alone by this much of a logit, measured at 7e-6
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


@pytest.fixture(scope="module")
def llama() -> LoadedModel:
    return attnviz.load("stories-llama")


# --- edges --------------------------------------------------------------------------------------


@pytest.mark.some(2)
@pytest.mark.parametrize("renormalise", [False, True])
@pytest.mark.parametrize("name", ["stories", "stories-llama"])
def test_exact_edges_are_captures_with_that_edge_cut(name: str, renormalise: bool) -> None:
    lm = attnviz.load(name)
    found = attnviz.experiment(lm, STORE, on=MARY).edges("L2.H1", exact=6, renormalise=renormalise)
    assert 6 <= len(found.cells) <= 12  # six by their estimate, and heavy ones that may be idle
    tokenizer = lm.text_tokenizer()
    mary, john = (
        tokenizer(of, add_special_tokens=False)["input_ids"][0] for of in (" Mary", " John")
    )

    def number(changes: list[object]) -> float:
        logits = attnviz.capture(lm, STORE, changes=changes).logits
        assert logits is not None
        return float(logits[0, -1, mary] - logits[0, -1, john])

    for query, key in found.cells[:3]:
        after = number([cut("L2.H1", query, key, renormalise=renormalise)])
        assert found.exact[query, key] == pytest.approx(after - number([]), abs=ROUNDING)


@pytest.mark.slow
def test_the_estimate_ranks_edges_but_is_not_their_size(stories: LoadedModel) -> None:
    """All of the ten largest exact edges are among the fifty that the estimate chooses."""
    every = [(q, k) for q in range(1, 15) for k in range(q + 1)]
    for head in ("L2.H1", "L2.H2"):
        whole = attnviz.experiment(stories, STORE, on=MARY).edges(head, cells=every)
        chosen = set(attnviz.experiment(stories, STORE, on=MARY).edges(head, exact=50).cells)
        assert set(whole.cells[:10]) <= chosen
    assert whole.estimated == "the measure"


def test_cells_of_the_mask_have_no_edge(stories: LoadedModel) -> None:
    found = attnviz.experiment(stories, STORE, on=MARY).edges("L2.H1", exact=0)
    assert np.isnan(found.estimate[2, 3]) and not np.isnan(found.estimate[3, 2])
    assert np.isnan(found.exact).all() and found.cells == ()
    with pytest.raises(BadInput, match="the mask hides that key"):
        attnviz.experiment(stories, STORE, on=MARY).edges("L2.H1", cells=[(2, 3)])
    with pytest.raises(BadInput, match="no slope"):
        attnviz.experiment(stories, STORE, on=Divergence()).edges("L2.H1")
    with pytest.raises(BadInput, match="^this number of the answer has no slope"):
        attnviz.experiment(stories, STORE).edges("L2.H1")
    exact = attnviz.experiment(stories, STORE, on=Divergence()).edges("L2.H1", cells=[(14, 2)])
    assert exact.exact[14, 2] > 0 and np.isnan(exact.estimate).all()
    with pytest.raises(BadInput, match="is 4 heads"):
        attnviz.experiment(stories, STORE, on=MARY).edges("L2")


def planted() -> LoadedModel:
    """One layer, two heads; every query of head 0 looks at token 5, whose value is exactly 0.

    Embeddings have a part that queries and keys read (0 … 3) and one that values read (4 … 7);
    token 5 has nothing in the second. The layer norm keeps zero at zero: every part sums to 0.
    """
    config = GPT2Config(
        vocab_size=11, n_positions=7, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0
    )
    model = GPT2LMHeadModel(config).eval()
    draws = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.transformer.wte.weight[:, 4:8] = torch.randn(11, 4, generator=draws)
        model.transformer.wte.weight[:, 4:8] -= model.transformer.wte.weight[:, 4:8].mean(1, True)
        model.transformer.wte.weight[5] = 0
        model.transformer.wte.weight[5, :2] = torch.tensor([3.0, -3.0])
        for norm in (
            model.transformer.h[0].ln_1,
            model.transformer.h[0].ln_2,
            model.transformer.ln_f,
        ):
            norm.weight.fill_(1.0)
        attention = model.transformer.h[0].attn
        attention.c_attn.bias[0] = 9.0  # head 0 asks for the mark of token 5, whoever asks
        attention.c_attn.weight[0, 16] = 1.0
        attention.c_attn.weight[4:8, 32:36] = torch.eye(4)  # v of head 0 reads the second part
        attention.c_attn.weight[4:8, 40:44] = torch.eye(4)  # head 1 is even and reads it too
        attention.c_proj.weight[0:4, 8:12] = torch.randn(4, 4, generator=draws)
        attention.c_proj.weight[8:12, 8:12] = torch.randn(4, 4, generator=draws)
        model.lm_head.weight = torch.nn.Parameter(torch.randn(11, 16, generator=draws))
    return attnviz.load(model)


def test_a_head_whose_weight_misleads_is_rank_one_by_weight_and_zero_by_effect() -> None:
    lm = planted()
    ids = torch.tensor([[3, 5, 2, 7, 1, 4]])

    def logit(output: dict[str, Tensor]) -> Tensor:
        return output["logits"][:, -1, 3] - output["logits"][:, -1, 8]

    every = [(5, key) for key in range(6)]
    found = attnviz.experiment(lm, on=logit, inputs={"input_ids": ids}).edges("L0.H0", cells=every)
    assert found.weights[5].argmax() == 1 and found.weights[5, 1] > 0.9
    assert found.exact[5, 1] == 0.0
    assert np.abs(found.exact[5, 2:]).max() > 0


def test_heavy_but_idle_cells_are_named(stories: LoadedModel) -> None:
    found = attnviz.experiment(stories, STORE, on=MARY).edges("L2.H1")
    idle = found.idle(3)
    assert idle
    for query, key in idle:
        assert found.weights[query, key] >= 0.5 and query > 0
        without = (
            attnviz.experiment(stories, STORE, on=MARY)
            .edges("L2.H1", cells=[(query, key)])
            .exact[query, key]
        )
        assert abs(without) <= 0.01 * np.nanmax(np.abs(found.exact))


def test_changes_of_a_block_around_them_are_left_out_of_effects(stories: LoadedModel) -> None:
    plain = attnviz.experiment(stories, STORE, on=MARY).edges("L2.H1", exact=3)
    with attnviz.changed(stories, pattern("L2.H1"), ablate("L0.H0", "zero")):
        inside = attnviz.experiment(stories, STORE, on=MARY).edges("L2.H1", exact=3)
    assert inside.before == pytest.approx(plain.before, abs=2e-5)
    assert np.array_equal(inside.weights, plain.weights)


def test_two_changes_of_one_capture_are_made_in_their_order(stories: LoadedModel) -> None:
    """Two changes in one capture, in the order in which they were given."""
    both = attnviz.capture(
        stories, STORE, changes=[pattern("L2.H1"), ablate("L2.H1", "zero"), cut("L3.H0", key=4)]
    )
    assert both.call(2).changes == ("L2.H1.weights=even", "L2.H1.mixed=zero")
    assert not both.call(2).output[0, :, 1].any()
    assert float(both.weights(3, 0)[:, 4].max()) == 0.0
    assert both.verify().ok


def test_own_code_edges_are_refused_by_name(stories: LoadedModel) -> None:
    run = attnviz.experiment(stories, STORE, on=MARY)
    calls = [replace(call, only_weights=True) for call in run.prepared.layout.calls]
    run.prepared.__dict__["layout"] = Layout(tuple(calls))
    with pytest.raises(UnsupportedAttention, match="L2.H1.*its own code"):
        run.edges("L2.H1")
