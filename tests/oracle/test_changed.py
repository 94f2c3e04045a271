"""Changes made at the attention function, against hooks by name and the eager softmax.

The table of families is the one that the design measured: an output zeroed or set is what a hook on
W_O's input gives, to the bit where the model runs the same kernel; what happens before is what the
eager model gives when its softmax, or the layers before it, are intercepted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

import attnviz
from attnviz.attention.capture import Capture
from attnviz.capture.changed.run import changed, require_changes
from attnviz.changes import Change, ablate, cut, mask, patch, pattern
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from tests.support.changed_by_hand import (
    EagerSoftmax,
    layer_writes,
    output_layer_reads,
)
from tests.support.pass_alterations import bart
from tests.support.tiny.configs import tiny_config
from tests.support.tiny.inputs import first_fitting
from tests.support.tiny.models import build, set_seed
from tests.support.tiny.reference import main_outputs

WIDTH = 16  # of a head of the tiny models
TOLERANCE = 1e-5  # as a share of the largest number: how far kernels differ grows with the numbers


@dataclass(frozen=True)
class Family:
    """One row of the table. `w_o`, `w_q`, `w_k`, `w_v` are dotted names of layer 0.

    `nth` is which softmax of the eager pass belongs to the site. `exact` is True where hooks on
    W_O's input give the very bits.
    """

    name: str
    w_o: str
    site: str = "L0.H1"
    head: int = 1
    nth: int = 0
    w_qkv: tuple[str, ...] = ()
    overrides: dict[str, Any] = field(default_factory=dict)
    exact: bool = True
    sink: bool = False


FAMILIES = (
    Family(
        "bert",
        "encoder.layer.0.attention.output.dense",
        w_qkv=tuple(f"encoder.layer.0.attention.self.{of}" for of in ("query", "key", "value")),
    ),
    Family("gpt2", "h.0.attn.c_proj"),
    Family("llama", "layers.0.self_attn.o_proj", overrides={"num_key_value_heads": 2}),
    Family(
        "t5",
        "encoder.block.0.layer.0.SelfAttention.o",
        "encoder.L0.H1",
        w_qkv=tuple(f"encoder.block.0.layer.0.SelfAttention.{of}" for of in "qkv"),
    ),
    Family(
        "t5",
        "decoder.block.0.layer.1.EncDecAttention.o",
        "decoder.cross.L0.H1",
        nth=3,
        w_qkv=tuple(f"decoder.block.0.layer.1.EncDecAttention.{of}" for of in "qkv"),
    ),
    Family("marian", "decoder.layers.0.self_attn.out_proj", "decoder.L0.H1", nth=2),
    Family("marian", "decoder.layers.0.encoder_attn.out_proj", "decoder.cross.L0.H1", nth=3),
    Family("vit", "layers.0.attention.o_proj"),
    Family("gemma2", "layers.0.self_attn.o_proj"),
    Family("gpt_oss", "layers.0.self_attn.o_proj", exact=False, sink=True),
)
# models with a linear layer for each of q, k and v, and nothing between it and attention
WITH_LAYERS = [family for family in FAMILIES if family.w_qkv]
IDS = [f"{family.name}-{family.site}" for family in FAMILIES]


@dataclass(frozen=True, eq=False)
class Case:
    """A family's model, its eager twin, and the inputs of one row without padding."""

    family: Family
    lm: LoadedModel
    eager: PreTrainedModel
    inputs: dict[str, Any]
    clean: Capture

    def ours(self, *changes: Change) -> Tensor:
        """The model's main output with changes."""
        with torch.no_grad(), changed(self.lm, *changes):
            return self.output(self.lm.model)

    def output(self, model: Any) -> Tensor:
        """The first of the model's outputs."""
        set_seed()
        return main_outputs(model(**self.inputs))[0]

    def by_softmax(
        self,
        weights: Callable[[Tensor], Tensor] | None = None,
        scores: Callable[[Tensor], Tensor] | None = None,
    ) -> Tensor:
        """The eager model's output with its softmax intercepted."""
        family, sink = self.family, None
        if family.sink:
            sink = float(self.eager.layers[0].self_attn.sinks[family.head].detach())
        mode = EagerSoftmax(family.nth, family.head, weights=weights, scores=scores, sink=sink)
        with torch.no_grad(), mode:
            return self.output(self.eager)


@pytest.fixture(scope="module", params=FAMILIES, ids=IDS)
def case(request: pytest.FixtureRequest) -> Case:
    family: Family = request.param
    model, eager = build(family.name, tiny_config(family.name, "tiny", family.overrides or None))
    row, lm = first_fitting(family.name, model), attnviz.load(model)
    return Case(family, lm, eager, row, attnviz.capture(lm, inputs=row))


def largest(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest of their numbers."""
    return float((ours - theirs).abs().max() / theirs.abs().max())


def columns(case: Case) -> slice:
    width = case.clean.calls[0].output.shape[3]
    return slice(case.family.head * width, (case.family.head + 1) * width)


def call_of(case: Case) -> Any:
    stack, _, rest = case.family.site.rpartition("L0")
    kind = "cross" if "cross" in stack else "self"
    name = stack.replace("cross", "").strip(".") or None
    return case.clean.call(0, kind, name)


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
def test_zero_is_a_hook_on_the_input_of_w_o(case: Case) -> None:
    with torch.no_grad():
        plain = case.output(case.lm.model)
        with output_layer_reads(case.lm.model, case.family.w_o, columns(case), torch.zeros_like):
            theirs = case.output(case.lm.model)
    ours = case.ours(ablate(case.family.site, "zero"))
    assert largest(ours, theirs) <= (0.0 if case.family.exact else TOLERANCE)
    assert largest(ours, plain) > 100 * TOLERANCE


@pytest.mark.filterwarnings("ignore")
def test_an_even_pattern_is_an_eager_softmax_made_even(case: Case) -> None:
    def even(weights: Tensor) -> Tensor:
        seen = (weights > 0).to(weights.dtype)
        return seen / seen.sum(-1, keepdim=True)

    ours = case.ours(pattern(case.family.site))
    assert largest(ours, case.by_softmax(weights=even)) <= TOLERANCE


@pytest.mark.some(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("renormalise", [False, True])
def test_a_cut_edge_is_a_weight_of_zero_or_a_score_of_minus_infinity(
    case: Case, renormalise: bool
) -> None:
    query, key = 2, 1

    def without(weights: Tensor) -> Tensor:
        weights = weights.clone()
        weights[:, query, key] = 0
        return weights

    def blocked(scores: Tensor) -> Tensor:
        scores = scores.clone()
        scores[:, query, key] = -torch.inf
        return scores

    ours = case.ours(cut(case.family.site, query, key, renormalise=renormalise))
    theirs = case.by_softmax(scores=blocked) if renormalise else case.by_softmax(weights=without)
    assert largest(ours, theirs) <= TOLERANCE
    with torch.no_grad():  # by the same kernel: any difference is that of the cut
        assert largest(ours, case.output(case.lm.model)) > 0


@pytest.mark.filterwarnings("ignore")
def test_a_whole_key_can_be_cut(case: Case) -> None:
    def blocked(scores: Tensor) -> Tensor:
        scores = scores.clone()
        scores[..., 1] = -torch.inf
        return scores

    ours = case.ours(cut(case.family.site, key=1))
    assert largest(ours, case.by_softmax(scores=blocked)) <= TOLERANCE


@pytest.mark.filterwarnings("ignore")
def test_a_temperature_divides_the_scores_but_no_sink(case: Case) -> None:
    ours = case.ours(pattern(case.family.site, temperature=2.5))
    theirs = case.by_softmax(scores=lambda scores: scores / 2.5)
    assert largest(ours, theirs) <= TOLERANCE


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore")
def test_an_own_matrix_and_an_own_mask_are_laid_over_the_head(case: Case) -> None:
    call = call_of(case)
    draws = torch.Generator().manual_seed(3)
    matrix = torch.rand(call.n_query, call.n_key, generator=draws).softmax(-1)
    ours = case.ours(pattern(case.family.site, matrix))
    assert largest(ours, case.by_softmax(weights=lambda _: matrix)) <= TOLERANCE

    seen = torch.ones(call.n_query, call.n_key, dtype=torch.bool)
    seen[:, 2] = False
    own = call.inputs.may_attend(case.family.head)
    seen = seen if own is None else seen & own
    ours = case.ours(mask(case.family.site, seen))
    theirs = case.by_softmax(scores=lambda scores: scores.masked_fill(~seen, -torch.inf))
    assert largest(ours, theirs) <= TOLERANCE


@pytest.mark.some(7)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stage", ["weights", "mixed"])
def test_a_patch_takes_the_stage_from_another_run(case: Case, stage: str) -> None:
    """A head whose pattern was replaced, and whose stage is then put back, is the plain head."""
    with torch.no_grad():
        plain = case.output(case.lm.model)
    site = case.family.site
    assert largest(case.ours(pattern(site)), plain) > 100 * TOLERANCE
    restored = case.ours(pattern(site), patch(site, case.clean, stage))
    assert largest(restored, plain) <= TOLERANCE


@pytest.mark.some(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stage", ["q", "k", "v"])
@pytest.mark.parametrize("case", WITH_LAYERS, ids=lambda of: of.site, indirect=True)
def test_patching_q_k_or_v_is_a_hook_on_the_layer_that_writes_it(case: Case, stage: str) -> None:
    name = case.family.w_qkv["qkv".index(stage)]
    other = {
        name: of.flip(1) if of.dtype == torch.int64 else of for name, of in case.inputs.items()
    }
    source = attnviz.capture(case.lm, inputs=other)
    call = next(of for of in source.calls if of.module == call_of(case).module)
    made = call.stages(case.family.head)[stage]
    ours = case.ours(patch(case.family.site, source, stage))
    with (
        torch.no_grad(),
        layer_writes(case.lm.model, name, columns(case), lambda _: made[None]),
    ):
        theirs = case.output(case.lm.model)
    assert largest(ours, theirs) <= TOLERANCE


@pytest.mark.some(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_changes", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_a_changed_capture_says_so_and_verifies(case: Case, n_changes: int) -> None:
    site = case.family.site
    changes = (
        ablate(site, "zero"),
        cut(site, 2, 1),
        patch(site, case.clean, "v"),
        pattern(site),
        pattern(site, temperature=3),
        cut(site, key=1, renormalise=False),
    )
    for change in changes[:n_changes]:
        capture = attnviz.capture(case.lm, inputs=case.inputs, changes=[change])
        assert capture.verify().ok, capture.verify()
        said = [call for call in capture.calls if call.changes]
        assert [call.changes for call in said] == [(str(change),)]
        assert said[0].module == call_of(case).module


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore")
def test_other_rows_of_a_changed_head_keep_their_bits(case: Case) -> None:
    """A cut in query 2 leaves what the kernel gave for every other query of the head."""
    capture = attnviz.capture(case.lm, inputs=case.inputs, changes=[cut(case.family.site, 2, 1)])
    call = call_of(case)
    ours = next(of for of in capture.calls if of.module == call.module).output[0]
    same = (ours == call.output[0]).all(-1)
    same[2, case.family.head] = True
    assert bool(same.all())


def test_one_change_in_place_of_a_list_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match="changes= is one Ablate; put it into a list"):
        require_changes(ablate("L0.H0"))


def test_a_head_of_several_stacks_is_refused_by_name_where_no_text_can_be_read() -> None:
    """A model without a tokenizer that was captured: `changed` said that its heads are unknown."""
    lm, tokens = attnviz.load(bart().eval()), torch.tensor([[3, 4, 5]])
    change = ablate("L0.H1")
    with pytest.raises(BadInput, match="capture something with it first"), changed(lm, change):
        pass
    attnviz.capture(lm, inputs={"input_ids": tokens, "decoder_input_ids": tokens})
    with pytest.raises(BadInput, match="L0.H1 is in several stacks"), changed(lm, change):
        pass
