"""Heads of models with attention code of their own, changed where W_O reads them.

The reference is the eager model with its softmax intercepted (a head without weights says nothing),
a hook on W_O's input by name, or a module that is told what its weights are.
"""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

import attnviz
from attnviz.capture.changed.run import changed
from attnviz.changes import Change, ablate, cut, patch, pattern
from attnviz.errors import UnsupportedAttention
from attnviz.models.loaded_model import LoadedModel
from tests.support import tutorial_attention as tutorials
from tests.support.changed_by_hand import EagerSoftmax, output_layer_reads
from tests.support.tiny.configs import tiny_config
from tests.support.tiny.models import build, set_seed

IDS = {"input_ids": torch.tensor([[11, 7, 19, 7, 3, 23, 5]])}
OTHER = {"input_ids": IDS["input_ids"].flip(1)}
W_O = {
    "bloom": "h.0.self_attention.dense",
    "deberta-v2": "encoder.layer.0.attention.output.dense",
    "falcon": "h.0.self_attention.dense",
    "gptj": "h.0.attn.out_proj",
    "mpt": "blocks.0.attn.out_proj",
}
COLUMNS = slice(16, 32)  # of head 1
TOLERANCE = 1e-6


@pytest.fixture(scope="module", params=W_O)
def own(request: pytest.FixtureRequest) -> tuple[str, LoadedModel, PreTrainedModel]:
    model, eager = build(request.param, tiny_config(request.param, "tiny", None))
    return W_O[request.param], attnviz.load(model), eager


def hidden(model: Any, inputs: dict[str, Tensor] = IDS) -> Tensor:
    set_seed()
    with torch.no_grad():
        output = model(**inputs).last_hidden_state
    assert isinstance(output, Tensor)
    return output


@pytest.mark.some(1)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
def test_a_head_of_own_code_is_ablated_and_patched_where_w_o_reads_it(
    own: tuple[str, LoadedModel, PreTrainedModel],
) -> None:
    w_o, lm, eager = own
    plain, source = hidden(lm.model), attnviz.capture(lm, inputs=OTHER)
    with EagerSoftmax(0, 1, weights=torch.zeros_like):
        silent = hidden(eager)
    with changed(lm, ablate("L0.H1", "zero")):
        assert float((hidden(lm.model) - silent).abs().max()) <= TOLERANCE
    assert float((silent - plain).abs().max()) > 1e-3

    said = source.call(0).output[:, :, 1]
    with output_layer_reads(lm.model, w_o, COLUMNS, lambda _: said):
        theirs = hidden(lm.model)
    capture = attnviz.capture(lm, inputs=IDS, changes=[patch("L0.H1", source)])
    assert capture.hidden is not None
    assert float((capture.hidden - theirs).abs().max()) <= TOLERANCE
    assert torch.equal(hidden(lm.model), plain)


@pytest.mark.some(1)
@pytest.mark.filterwarnings("ignore")
def test_a_changed_capture_of_own_code_says_so_and_verifies(
    own: tuple[str, LoadedModel, PreTrainedModel],
) -> None:
    w_o, lm, _ = own
    clean = attnviz.capture(lm, inputs=IDS)
    capture = attnviz.capture(lm, inputs=IDS, changes=[ablate("L0.H1", "zero")])
    assert capture.call(0).changes == ("L0.H1.mixed=zero",) and capture.call(1).changes == ()
    capture.verify().require()
    assert capture.call(0).projections["out"].module == w_o
    assert not capture.call(0).stages(1)["mixed"].any()
    assert not capture.call(0).output[:, :, 1].any()
    assert torch.equal(capture.call(0).output[:, :, 0], clean.call(0).output[:, :, 0])
    assert torch.equal(capture.call(0).weights(), clean.call(0).weights())


@pytest.mark.some(2)
@pytest.mark.filterwarnings("ignore")
def test_effects_of_own_code_are_hooks_on_the_input_of_w_o(
    own: tuple[str, LoadedModel, PreTrainedModel],
) -> None:
    w_o, lm, _ = own

    def first(output: Any) -> Tensor:
        number = output["last_hidden_state"][:, -1, 0]
        assert isinstance(number, Tensor)
        return number

    found = attnviz.experiment(lm, on=first, inputs=IDS).effects(to="zero")
    assert len(found.heads) == 8 and found.spread <= TOLERANCE
    with output_layer_reads(lm.model, w_o, COLUMNS, torch.zeros_like):
        theirs = float(hidden(lm.model)[0, -1, 0])
    assert found.after[1] == pytest.approx(theirs, abs=1e-5)


def even(weights: Tensor) -> Tensor:
    allowed = (weights > 0).float()
    return allowed / allowed.sum(-1, keepdim=True)


def without_edge(weights: Tensor) -> Tensor:
    weights = weights.clone()
    weights[..., 4, 2] = 0
    return weights


def hiding_edge(scores: Tensor) -> Tensor:
    scores = scores.clone()
    scores[..., 4, 2] = -1e30
    return scores


REFERENCES: tuple[tuple[Change, dict[str, Any]], ...] = (
    (pattern("L0.H1"), {"weights": even}),
    (pattern("L0.H1", temperature=0.5), {"scores": lambda scores: 2 * scores}),
    (cut("L0.H1", 4, 2, renormalise=False), {"weights": without_edge}),
    (cut("L0.H1", 4, 2), {"scores": hiding_edge}),
)


@pytest.mark.some(1)
@pytest.mark.filterwarnings("ignore")
def test_patterns_and_edges_of_own_code_are_changed_exactly(
    own: tuple[str, LoadedModel, PreTrainedModel],
) -> None:
    _, lm, eager = own
    attnviz.capture(lm, inputs=IDS)  # tells where its heads are
    plain = hidden(lm.model)
    for change, by_hand in REFERENCES:
        with EagerSoftmax(0, 1, **by_hand):
            theirs = hidden(eager)
        assert float((theirs - plain).abs().max()) > 1e-2
        with changed(lm, change):
            assert float((hidden(lm.model) - theirs).abs().max()) <= TOLERANCE, change
    capture = attnviz.capture(lm, inputs=IDS, changes=[change])
    assert capture.hidden is not None
    assert float((capture.hidden - theirs).abs().max()) <= TOLERANCE
    assert capture.call(0).changes == (str(change),) and capture.verify().ok
    assert torch.equal(hidden(lm.model), plain)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_weights_values_and_queries_of_own_code_are_patched(
    own: tuple[str, LoadedModel, PreTrainedModel],
) -> None:
    _, lm, eager = own
    source = attnviz.capture(lm, inputs=OTHER)
    other = torch.from_numpy(source.weights("L0.H1"))
    with EagerSoftmax(0, 1, weights=lambda _: other):
        theirs = hidden(eager)
    with changed(lm, patch("L0.H1", source, "weights")):
        assert float((hidden(lm.model) - theirs).abs().max()) <= TOLERANCE
    stages = {name: source.call(0).stages(1)[name] for name in ("q", "v")}
    for stage, numbers in stages.items():
        capture = attnviz.capture(lm, inputs=IDS, changes=[patch("L0.H1", source, stage)])
        assert torch.equal(capture.call(0).stages(1)[stage], numbers)
        assert capture.verify().ok


def test_modules_as_tutorials_write_them_are_changed_exactly_or_refused_by_name() -> None:
    exact, refused = set(), set()
    for cls in tutorials.EXACT:
        torch.manual_seed(11)
        model, x = cls().eval(), torch.randn(2, 5, tutorials.D)
        lm = attnviz.load(model)
        (call, *_) = attnviz.capture(lm, inputs={"x": x}).calls
        where = "cross.L0.H0" if call.kind == "cross" else "L0.H0"
        try:
            with torch.no_grad(), changed(lm, pattern(where)):
                ours = model(x)
        except UnsupportedAttention as error:
            assert call.module in str(error) and error.code == "own_code_unchanged"
            refused.add(cls.__name__)
            continue

        def told(weights: Tensor) -> Tensor:
            weights = weights.clone()
            weights[:, 0] = even(weights[:, 0])
            return weights

        with torch.no_grad():
            plain = model(x)
            model.keep = told
            theirs = model(x)
        assert float((ours - theirs).abs().max()) <= TOLERANCE, cls.__name__
        assert float((theirs - plain).abs().max()) > 1e-3, cls.__name__
        exact.add(cls.__name__)
    assert {"MultiQuery", "GroupedQuery", "ALiBi", "Rotary", "Local", "Perceiver"} <= exact
    assert {"Relative", "Gated", "Additive"} <= refused  # W_O reads something else, or none does


@pytest.mark.filterwarnings("ignore")
def test_a_pattern_of_own_code_has_no_gradient_and_says_so() -> None:
    model, _ = build("bloom", tiny_config("bloom", "tiny", None))
    lm = attnviz.load(model)
    attnviz.capture(lm, inputs=IDS)
    with pytest.raises(UnsupportedAttention, match="gradients"), changed(lm, pattern("L0.H1")):
        lm.model(**IDS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_edges_of_own_code_are_estimated_and_cut_exactly() -> None:
    from transformers import BloomConfig, BloomForCausalLM

    torch.manual_seed(7)
    config = BloomConfig(vocab_size=97, hidden_size=64, n_layer=2, n_head=4)
    lm = attnviz.load(BloomForCausalLM(config).eval())
    for parameter in lm.model.parameters():
        nn.init.normal_(parameter, std=0.1)
    on = attnviz.NextToken(5, against=9)
    found = attnviz.experiment(lm, on=on, inputs=IDS).edges("L0.H1", exact=6)
    assert np.isfinite(found.estimate[np.tril_indices(7)]).all() and len(found.cells) >= 6
    query, key = found.cells[0]
    changes = [cut("L0.H1", query, key, renormalise=False)]
    logits = attnviz.capture(lm, inputs=IDS, changes=changes).logits
    assert logits is not None
    after = float(logits[0, -1, 5] - logits[0, -1, 9])
    assert found.exact[query, key] == pytest.approx(after - found.before, abs=1e-5)
    assert np.sign(found.estimate[query, key]) == np.sign(found.exact[query, key])


@pytest.mark.filterwarnings("ignore")
def test_own_code_without_a_layer_that_reads_the_heads_is_refused() -> None:
    model, _ = build("xlnet", tiny_config("xlnet", "tiny", None))
    lm = attnviz.load(model)
    for change in (ablate("L0.H1", "zero"), pattern("L0.H1"), cut("L0.H1", 2, 1)):
        with pytest.raises(UnsupportedAttention, match="its own code") as error:
            attnviz.capture(lm, inputs=IDS, changes=[change])
        assert error.value.code == "own_code_unchanged"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_own_code_is_changed_at_every_new_token() -> None:
    from transformers import BloomConfig, BloomForCausalLM

    torch.manual_seed(7)
    config = BloomConfig(vocab_size=97, hidden_size=64, n_layer=2, n_head=4)
    lm = attnviz.load(BloomForCausalLM(config).eval())
    writing = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 3}
    for parameter in lm.model.parameters():
        nn.init.normal_(parameter, std=0.3)
    attnviz.capture(lm, inputs=IDS)
    with torch.no_grad():
        plain = lm.model.generate(**IDS, **writing)
        with output_layer_reads(
            lm.model, "transformer.h.1.self_attention.dense", COLUMNS, torch.zeros_like
        ):
            theirs = lm.model.generate(**IDS, **writing)
        with changed(lm, ablate("L1.H1", "zero")):
            ours = lm.model.generate(**IDS, **writing)
        with changed(lm, pattern("L0"), pattern("L1")):
            looks_evenly = lm.model.generate(**IDS, **writing)
            without_cache = lm.model.generate(**IDS, **writing, use_cache=False)
    assert torch.equal(ours, theirs)
    assert not torch.equal(ours, plain)
    assert torch.equal(looks_evenly, without_cache)
    assert not torch.equal(looks_evenly, plain)
