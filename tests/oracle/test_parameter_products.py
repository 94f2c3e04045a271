"""W_Q, W_K, W_V and W_O that a model keeps as tensors, without a linear layer."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.errors import UnsupportedAttention
from tests.support import parameter_attention as written

D, H, DH, N = 12, 3, 4, 7


class Tensors(nn.Module):
    """Attention whose q, k and v are products with parameters, made as `way` says."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.num_heads = way, H
        self.by_head = nn.Parameter(torch.randn(3, H, D, DH))
        self.whole = nn.ParameterList(nn.Parameter(torch.randn(D, D)) for _ in range(3))
        self.bias = nn.Parameter(torch.randn(3, D))
        self.fused, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def parts(self, x: Tensor) -> list[Tensor]:
        """q, k, v [batch, head, token, d]."""
        n_batch = len(x)
        if self.way == "whole":
            parts = [x @ w + b for w, b in zip(self.whole, self.bias, strict=True)]
        elif self.way == "fused":
            parts = list(functional.linear(x, self.fused.weight, self.fused.bias).chunk(3, -1))
        elif self.way == "computed":
            parts = [x @ (w * 0.5) for w in self.whole]
        elif self.way == "doubled":
            parts = [2 * (x @ w) for w in self.whole]
        else:
            assert self.way == "seq first"
            turned = x.transpose(0, 1).contiguous()
            parts = [(turned @ w).transpose(0, 1) for w in self.whole]
        return [part.reshape(n_batch, N, H, DH).transpose(1, 2) for part in parts]

    def forward(self, x: Tensor) -> Tensor:
        def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return (q @ k.mT * 0.3).softmax(-1) @ v

        if self.way == "by head":
            heads = [attend(*(x @ w for w in self.by_head[:, head])) for head in range(H)]
            result: Tensor = self.out(torch.cat(heads, -1))
        else:
            result = self.out(attend(*self.parts(x)).transpose(1, 2).flatten(2))
        return result


def recorded(way: str) -> tuple[Tensors, Tensor, AttentionCall]:
    torch.manual_seed(3)
    model, x = Tensors(way).eval(), torch.randn(2, N, D)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    (call,) = calls
    assert call.n_heads == H and not calls.missing and call.verify().ok
    return model, x, call


@pytest.mark.parametrize(
    ("way", "names"),
    [
        ("by head", ("by_head", "by_head", "by_head")),
        ("whole", ("whole.0", "whole.1", "whole.2")),
        ("fused", ("fused.weight", "fused.weight", "fused.weight")),
        ("seq first", ("whole.0", "whole.1", "whole.2")),
    ],
)
def test_a_product_with_a_parameter_is_a_projection(way: str, names: tuple[str, str, str]) -> None:
    model, x, call = recorded(way)
    assert tuple(call.projections[stage].module for stage in "qkv") == names
    assert not call.absent and not call.verify().uncovered
    weights: Callable[[int], Tensor] = {
        "by head": lambda n: model.by_head[n].movedim(0, 1).flatten(1),
        "fused": lambda n: model.fused.weight.T[:, n * D : (n + 1) * D],
    }.get(way, lambda n: model.whole[n])
    biases = {"whole": model.bias, "fused": model.fused.bias.reshape(3, D)}
    for number, stage in enumerate("qkv"):
        projection = call.projections[stage]
        for head in range(H):
            columns = projection.columns(head, DH)
            own = slice(head * DH, (head + 1) * DH)
            torch.testing.assert_close(projection.weight[:, columns], weights(number)[:, own])
            if way in biases:
                assert projection.bias is not None
                torch.testing.assert_close(projection.bias[columns], biases[way][number, own])
        torch.testing.assert_close(projection.input, x)
    steps = attnviz.derive(call, 1, batch=1)
    assert {"x", "q", "projected"} <= {view.stage for view in steps.views()}
    assert max(view.error or 0 for view in steps.views()) < 1e-5


@pytest.mark.parametrize("way", ["computed", "doubled"])
def test_a_product_with_no_parameter_as_it_is_is_absent_with_a_true_reason(way: str) -> None:
    _, _, call = recorded(way)
    assert set(call.projections) == {"out"}
    reason = "no linear layer that ran last wrote this tensor as the attention used it"
    assert call.absent == dict.fromkeys(("q", "k", "v", "x"), reason)


def test_what_the_model_changes_later_is_what_it_was() -> None:
    class Later(Tensors):
        def forward(self, x: Tensor) -> Tensor:
            x += super().forward(x)
            return x

    torch.manual_seed(3)
    model, x = Later("whole").eval(), torch.randn(2, N, D)
    read = x.clone()
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    torch.testing.assert_close(calls[0].projections["q"].input, read, atol=0, rtol=0)
    assert calls[0].verify().ok


def fault_of(stage: str, block: written.ByHead, call: AttentionCall) -> str | None:
    """What is false in one of W_Q, W_K and W_V of a layer."""
    projection, how, big = call.projections[stage], block.how, stage.upper()
    if projection.module != f"{call.module}.W_{'Q' if how.is_tied and big == 'K' else big}":
        return f"{stage} is {projection.module}"
    if not torch.equal(projection.input, block.read):
        return f"x of {stage}"
    weight, bias = getattr(block, f"W_{big}"), getattr(block, f"b_{big}")
    if (projection.bias is not None) != (how.bias != "none"):
        return f"the bias of {stage}"
    for head in range(call.n_heads):
        columns = projection.columns(head, written.DH)
        if not torch.equal(projection.weight[:, columns], weight[head]):
            return f"the columns of {stage}"
        if projection.bias is not None and not torch.equal(projection.bias[columns], bias[head]):
            return f"the numbers of the bias of {stage}"
    return None


def fault(block: written.ByHead, call: AttentionCall) -> str | None:
    """What is false in the call of a layer; None if nothing is, whatever is absent."""
    for stage in call.projections.keys() & {"q", "k", "v"}:
        found = fault_of(stage, block, call)
        if found is not None:
            return found
    out = call.projections.get("out")
    if out is not None:
        if out.module != f"{call.module}.W_O" or not torch.equal(
            out.weight, block.W_O.flatten(0, 1)
        ):
            return "W_O"
        for batch in range(call.n_batch):
            ours = attnviz.derive(call, 2, batch).projected
            if ours is None or float((ours - block.wrote[batch]).abs().max()) > 1e-5:
                return "what the layer adds"
    return None if call.verify().ok else "not verified"


def verdict(seed: int) -> str:
    """How many of the four were found, "refused" by name, or the fault."""
    torch.manual_seed(seed)
    how = written.way(seed)
    model, x = written.Stack(how).eval(), torch.randn(how.n_text, how.n_token, written.D)
    if how.are_alike:
        x = x[:1].repeat(how.n_text, 1, 1)
    try:
        with torch.no_grad(), attnviz.record(model) as calls:
            model(x)
    except UnsupportedAttention:
        return "refused"
    missing = {call.module for call in calls.missing}
    found = set()
    for block, name in zip(model.blocks, ("blocks.0", "blocks.1"), strict=False):
        own = [call for call in calls if call.module == name]
        if not own:
            found.add("refused" if name in missing else "silent")
            continue
        if len(own) > 1 or (own[0].n_batch, own[0].n_heads) != (how.n_text, written.H):
            return f"axes {[(call.n_batch, call.n_heads) for call in own]}"
        found.add(fault(block, own[0]) or f"{len(own[0].projections)} of 4")
    return min(found)


RIGHT = {"refused", *(f"{n} of 4" for n in range(5))}


def require_right(seeds: range) -> Counter[str]:
    """Every layer of these seeds right; how many had how much."""
    verdicts = {seed: verdict(seed) for seed in seeds}
    faults = {seed: (v, written.way(seed)) for seed, v in verdicts.items() if v not in RIGHT}
    assert not faults, (len(faults), list(faults.items())[:4])
    return Counter(verdicts.values())


def test_matrices_of_each_head_are_found_however_they_are_written_and_none_is_false() -> None:
    counts = require_right(range(80))
    assert counts["4 of 4"] >= 0.55 * 80, counts


@pytest.mark.slow
def test_many_more_matrices_of_each_head() -> None:
    counts = require_right(range(80, 4080))
    assert counts["4 of 4"] >= 0.6 * 4000, counts


@pytest.mark.parametrize("n_text", [1, 3])
def test_a_matrix_for_each_head_shows_the_heads(n_text: int) -> None:
    """Scores x·W·xᵀ with batch and heads in one axis: W is that of q, and the keys are x."""

    class Bilinear(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.v = (nn.Parameter(torch.randn(H + 1, D, D)) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            whole = x[:, None].expand(-1, H + 1, -1, -1).flatten(0, 1)
            w, v = (part.repeat(len(x), 1, 1) for part in (self.w, self.v))
            self.truth = (whole @ w @ whole.mT / D**0.5).softmax(-1)
            return (self.truth @ (whole @ v)).reshape(len(x), H + 1, N, D).mean(1)

    torch.manual_seed(3)
    model, x = Bilinear().eval(), torch.randn(n_text, N, D)
    with torch.no_grad(), attnviz.record(model) as calls:
        model(x)
    (call,) = calls
    assert (call.n_batch, call.n_heads, calls.missing) == (n_text, H + 1, [])
    for batch in range(n_text):
        own = model.truth[batch * (H + 1) : (batch + 1) * (H + 1)]
        torch.testing.assert_close(call.weights(batch=batch), own, atol=1e-6, rtol=0)
    assert [call.projections[stage].module for stage in ("q", "v")] == ["w", "v"]
    torch.testing.assert_close(call.projections["q"].weight[:, D : 2 * D], model.w[1])
    assert call.verify().ok


class Beside(nn.Module):
    """W_O of two parameters: z·W_O and, beside it, z·A·B, in a type of its own."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.inner, self.dtype = written.ByHead(replace(written.way(0), bias="none")), dtype
        self.a, self.b = nn.Parameter(torch.randn(D, 2)), nn.Parameter(torch.randn(2, D))

    def forward(self, x: Tensor) -> Tensor:
        def out_of(z: Tensor, w: Tensor) -> Tensor:
            low = z.flatten(2).to(self.dtype) @ self.a.to(self.dtype) @ self.b.to(self.dtype)
            return z.flatten(2) @ w.flatten(0, 1) + low.to(z.dtype)

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(written.OUT_OF, self.inner.how.out_of, out_of)
            result: Tensor = self.inner(x)
        return result


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_parameter_beside_another_that_reads_the_heads_is_no_w_o(dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    model = Beside(dtype).eval()
    with torch.no_grad(), attnviz.record(model) as calls:
        model(torch.randn(2, N, D))
    (call,) = calls
    assert set(call.projections) == {"q", "k", "v"} and call.verify().ok
    assert call.absent["projected"].startswith("several layers read the output of the attention")


def model_of(seed: int) -> tuple[written.Model, dict[str, Tensor]]:
    """Two layers written in the way of a seed, and ids."""
    torch.manual_seed(seed)
    how = replace(written.way(seed), n_layer=2, n_token=5)
    return written.Model(how).eval(), {"input_ids": torch.randint(0, 20, (how.n_text, 5))}


CHANGED_SEEDS = [seed for seed in range(30) if written.way(seed).out_of != "one by one"]


@pytest.mark.some(8)
@pytest.mark.parametrize("seed", CHANGED_SEEDS)
def test_heads_are_changed_where_a_parameter_reads_them(seed: int) -> None:
    model, inputs = model_of(seed)
    clean = attnviz.capture(model, inputs=inputs)
    for layer, head in ((0, 1), (1, 2)):
        by_hand = deepcopy(model)
        with torch.no_grad():
            by_hand.body.blocks[layer].W_O[head] = 0
            expected = by_hand(**inputs)["logits"]
        off = [attnviz.ablate(f"L{layer}.H{head}", to="zero")]
        without = attnviz.capture(model, inputs=inputs, changes=off)
        torch.testing.assert_close(without.logits, expected, atol=1e-5, rtol=0)
        assert not torch.allclose(clean.logits, expected, atol=1e-4)
        assert not without.call(layer).output[:, :, head].any()
        assert len(without.call(layer).projections) == 4 and without.verify().ok
    forbidden = attnviz.capture(model, inputs=inputs, changes=[attnviz.cut("L1.H0", 4, 2)])
    row = clean.weights("L1.H0")[4].copy()
    row[2] = 0
    assert forbidden.weights("L1.H0")[4] == pytest.approx(row / row.sum(), abs=1e-6)
    block = model.body.blocks[1]
    mixed = forbidden.call(1).mixed()[4].flatten()
    wrote = mixed @ block.W_O.flatten(0, 1) + (block.b_O if block.how.out_bias != "none" else 0)
    torch.testing.assert_close(block.wrote[0, 4], wrote.detach(), atol=1e-5, rtol=0)
    assert torch.equal(attnviz.capture(model, inputs=inputs).logits, clean.logits)


def test_a_head_before_a_parameter_is_patched_and_keeps_gradients_out() -> None:
    model, inputs = model_of(1)
    lm = attnviz.load(model)
    source = attnviz.capture(lm, inputs={"input_ids": inputs["input_ids"].flip(1)})
    changes = [attnviz.patch("L0.H1", source)]
    patched = attnviz.capture(lm, inputs=inputs, changes=changes)
    torch.testing.assert_close(patched.call(0).output[:, :, 1], source.call(0).output[:, :, 1])
    assert patched.verify().ok
    with attnviz.changed(lm, *changes), pytest.raises(UnsupportedAttention, match="a parameter"):
        model(**inputs)


def test_effects_of_heads_before_a_parameter_are_those_by_hand() -> None:
    model, inputs = model_of(5)
    inputs = {"input_ids": inputs["input_ids"][:1]}
    run = attnviz.experiment(model, inputs=inputs, on=attnviz.NextToken(3, against=4))
    effects = run.effects(to="zero")
    for estimated in (lambda: run.effects(to="zero", exact=False), lambda: run.edges("L1.H1")):
        with pytest.raises(UnsupportedAttention, match="first order, which needs their slopes"):
            estimated()

    def answer(by_hand: nn.Module) -> float:
        with torch.no_grad():
            logits = by_hand(**inputs)["logits"][0, -1]
        return float(logits[3] - logits[4])

    for layer in range(2):
        for head in range(written.H):
            by_hand = deepcopy(model)
            with torch.no_grad():
                by_hand.body.blocks[layer].W_O[head] = 0
            moved = answer(by_hand) - answer(model)
            assert effects.of(f"L{layer}.H{head}") == pytest.approx(moved, abs=1e-5)


def test_of_a_long_text_samples_are_kept_and_no_copy_of_a_matrix() -> None:
    """600 tokens: rows of what W_O read and wrote are samples, W is put together when asked for."""
    torch.manual_seed(3)
    how = replace(written.way(0), into="einsum", out_of="einsum", bias="added", out_bias="added")
    model, x = written.Stack(replace(how, n_layer=1)).eval(), torch.randn(2, 600, written.D)
    with torch.no_grad(), attnviz.record(model, thin=True) as calls:
        model(x)
    (call,) = calls
    out, step = call.projections["out"], call.row_step
    assert step > 1 and not call.absent and call.verify().ok
    torch.testing.assert_close(out.output, model.blocks[0].wrote[:, ::step])
    assert out.input.untyped_storage().nbytes() == out.input.numel() * 4
    assert all("_brought" not in vars(projection.layer) for projection in call.projections.values())
    assert torch.equal(out.weight, model.blocks[0].W_O.flatten(0, 1))
