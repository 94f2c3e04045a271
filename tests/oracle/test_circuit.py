"""`run.circuit(other)`: switches that are the model, edges of own hooks, a circuit really cut."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.experiment import Circuit, Experiment
from attnviz.experiment.answer_measures import Class, NextToken
from tests.support.questions import MARY, STORE
from tests.support.shapes import unchecked
from tests.support.tiny.models import make_peaky

IDS = torch.tensor([[5, 17, 2, 30, 11]])
OTHERS = torch.tensor([[5, 3, 2, 8, 11]])
ON = NextToken(7, against=4)
WIDTH = 4  # of a head of the tiny models


def tiny(kind: str) -> nn.Module:
    """Two layers of random weights; Llama's six heads share two key heads."""
    torch.manual_seed(11)
    model: nn.Module = (
        GPT2LMHeadModel(GPT2Config(vocab_size=37, n_positions=13, n_embd=12, n_layer=2, n_head=3))
        if kind == "gpt2"
        else LlamaForCausalLM(
            LlamaConfig(
                vocab_size=37,
                hidden_size=24,
                intermediate_size=20,
                num_hidden_layers=2,
                num_attention_heads=6,
                num_key_value_heads=2,
                max_position_embeddings=32,
            )
        )
    )
    make_peaky(model)
    return model.eval()


def runs(model: nn.Module) -> tuple[Experiment, Experiment]:
    lm = attnviz.load(model)
    own, other = (attnviz.experiment(lm, on=ON, inputs={"input_ids": ids}) for ids in (IDS, OTHERS))
    return own, other


def number(logits: Tensor) -> float:
    return float(logits[0, -1, 7] - logits[0, -1, 4])


@pytest.mark.some(1)
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_all_edges_on_are_the_model_and_all_off_the_other_run(kind: str) -> None:
    model = tiny(kind)
    found = runs(model)[0].circuit(runs(model)[1], exact=5)
    with torch.no_grad():
        own, other = (number(model(input_ids=ids).logits) for ids in (IDS, OTHERS))
    assert found.before == pytest.approx(own, abs=1e-5)
    assert found.other == pytest.approx(other, abs=1e-5)
    assert found.error <= 1e-5
    assert found.keep(0) == pytest.approx(0.0, abs=1e-5)
    assert found.keep(len(found.edges)) == pytest.approx(1.0, abs=1e-5)
    assert found.faithful[[0, -1]] == pytest.approx([0, 1], abs=1e-5)
    assert found.complete[[0, -1]] == pytest.approx([1, 0], abs=1e-5)
    # embeddings, heads and MLPs into what runs after them: of three heads 1·(9 + 1) + …
    n_read = {"gpt2": 9, "llama": 6 + 2 + 2}[kind]
    n_head = {"gpt2": 3, "llama": 6}[kind]
    senders = [1, 1 + n_head, 2 + n_head, 2 + 2 * n_head, 3 + 2 * n_head]
    readers = [n_read, 1, n_read, 1, 1]
    assert len(found.edges) == sum(s * r for s, r in zip(senders, readers, strict=True))
    assert (~np.isnan(found.exact)).sum() == 5


def kept(model: nn.Module, names: dict[str, str], ids: Tensor) -> dict[str, Tensor]:
    """What some modules read, in a plain pass."""
    found: dict[str, Tensor] = {}
    handles = [
        model.get_submodule(module).register_forward_pre_hook(
            lambda _m, args, name=name: found.update({name: args[0].detach().clone()})
        )
        for name, module in names.items()
    ]
    with torch.no_grad():
        model(input_ids=ids)
    for handle in handles:
        handle.remove()
    return found


def with_output(model: nn.Module, module: str, change: Callable[[Tensor], Tensor]) -> float:
    """The number where a module returns something else."""
    handle = model.get_submodule(module).register_forward_hook(lambda _m, _a, out: change(out))
    with torch.no_grad():
        after = number(model(input_ids=IDS).logits)
    handle.remove()
    return after


def test_an_edge_of_a_circuit_is_that_of_own_hooks() -> None:
    """L0.H1's part of the stream from the other text, for one reader alone."""
    model = tiny("gpt2")
    own, other = runs(model)
    found = own.circuit(other, exact=None)
    exact = {(s, str(r)): found.exact[at] for at, (s, r) in enumerate(found.edges)}
    names = {
        "w_o": "transformer.h.0.attn.c_proj",
        "mlp": "transformer.h.0.ln_2",
        "block": "transformer.h.1.ln_1",
        "last": "transformer.ln_f",
    }
    mine, theirs = kept(model, names, IDS), kept(model, names, OTHERS)
    columns = slice(WIDTH, 2 * WIDTH)
    rows = model.transformer.h[0].attn.c_proj.weight[columns]
    change = (theirs["w_o"] - mine["w_o"])[..., columns] @ rows
    block = model.transformer.h[1]
    with torch.no_grad():
        qkv = block.attn.c_attn(block.ln_1(mine["block"] + change))
        first = model.transformer.h[0]
        mlp = first.mlp(first.ln_2(mine["mlp"] + change))
        end = model.lm_head(model.transformer.ln_f(mine["last"] + change))

    def one_side(start: int) -> Callable[[Tensor], Tensor]:
        def swapped(out: Tensor) -> Tensor:
            out = out.clone()
            some = slice(start + 2 * WIDTH, start + 3 * WIDTH)  # of head 2
            out[..., some] = qkv[..., some]
            return out

        return swapped

    for place, side in enumerate("qkv"):
        after = with_output(model, "transformer.h.1.attn.c_attn", one_side(12 * place))
        expected = after - found.before
        assert exact["L0.H1", f"L1.H2.{side}"] == pytest.approx(expected, abs=2e-6)
    after = with_output(model, "transformer.h.0.mlp", lambda _out: mlp)
    assert exact["L0.H1", "MLP 0"] == pytest.approx(after - found.before, abs=2e-6)
    assert exact["L0.H1", "answer"] == pytest.approx(number(end) - found.before, abs=2e-6)


def test_the_estimate_of_a_small_step_is_the_edge_itself() -> None:
    """Where the other run is hardly another, the first order is all that there is."""
    model = tiny("gpt2")
    with torch.no_grad():
        weight = model.transformer.wte.weight
        weight[3] = weight[17] + 2e-2 * torch.randn(12)
        weight[8] = weight[30] + 2e-2 * torch.randn(12)
    own, other = runs(model)
    found = own.circuit(other, exact=None, steps=1)
    scale = np.abs(found.exact).max()
    np.testing.assert_allclose(found.estimate, found.exact, atol=0.03 * scale)
    assert found.agreement[0] > 0.999


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_slopes_by_reads_are_those_by_switches(kind: str) -> None:
    """Every edge a little off: what a receiver then reads is the other run's in that share."""
    own, other = runs(tiny(kind))
    work = own.circuit(other, exact=0).work
    slopes = work.model.slopes(work.start, lambda logits: logits[0, -1, 7] - logits[0, -1, 4])
    on = torch.ones(1, *work.model.allowed.shape, requires_grad=True)
    with unchecked():
        logits, _ = work.model.forward(work.start, on, work.other_wrote)
    (by_switch,) = torch.autograd.grad(logits[0, -1, 7] - logits[0, -1, 4], on)
    expected = torch.einsum("std,rtd->rs", work.wrote - work.other_wrote, slopes)
    allowed = work.model.allowed
    torch.testing.assert_close(by_switch[0][allowed], expected[allowed], atol=2e-5, rtol=1e-4)
    assert by_switch[0][allowed].abs().max() > 0.1


def test_a_circuit_names_the_heads_that_share_keys() -> None:
    own, other = runs(tiny("llama"))
    read = {str(reader) for _, reader in own.circuit(other, exact=0).edges}
    shared = {f"L{n}.H{heads}.{side}" for n in (0, 1) for heads in ("0-2", "3-5") for side in "kv"}
    alone = {f"L{n}.H{head}.q" for n in (0, 1) for head in range(6)}
    assert {name for name in read if ".H" in name} == shared | alone


@pytest.mark.slow
def test_an_edge_of_a_head_that_writes_nothing_is_nothing() -> None:
    model = tiny("gpt2")
    with torch.no_grad():
        model.transformer.h[0].attn.c_proj.weight[:WIDTH] = 0
    own, other = runs(model)
    found = own.circuit(other, exact=None)
    idle = [at for at, (sender, _) in enumerate(found.edges) if sender == "L0.H0"]
    assert len(idle) == 12  # MLP 0, nine reads of layer 1, MLP 1, the answer
    assert np.abs(found.exact[idle]).max() <= 2e-6 and np.abs(found.estimate[idle]).max() == 0


@pytest.fixture(scope="module")
def names() -> Circuit:
    lm = attnviz.load("stories")
    own, swapped = (
        attnviz.experiment(lm, STORE.replace("John gave", f"{name} gave"), on=MARY)
        for name in ("John", "Mary")
    )
    return own.circuit(swapped, exact=40)


@pytest.mark.slow
def test_a_dozen_edges_of_stories_keep_the_answer_and_random_ones_do_not(names: Circuit) -> None:
    assert len(names.edges) == 479
    assert names.least is not None and names.least <= 16
    twenty, half = names.points.index(20), names.points.index(240)
    assert names.faithful[twenty] > 0.9 > 0.2 > names.random_faithful[:, half].max()
    assert abs(names.complete[twenty]) < 0.1 < names.random_complete[:, twenty].mean()
    assert names.keep(20) == pytest.approx(names.faithful[twenty], abs=1e-5)
    pearson, spearman = names.agreement
    assert pearson > 0.98 and 0.5 < spearman <= 1
    first = {(names.edges[at][0], str(names.edges[at][1])) for at in names.order[:4]}
    assert {("L0.H0", "MLP 0"), ("embeddings", "L0.H0.v")} <= first


def test_a_circuit_prints_its_curve_beside_random_edges(names: Circuit) -> None:
    lines = str(names).splitlines()
    assert lines[1].split() == "edges kept random kept cut random cut".split()
    assert len(lines) > len(names.points) + 12 and len(repr(names)) < 200
    lists = names.to_dict()
    sizes = [abs(change) for change in lists["exact"][:40]]  # type: ignore[arg-type]
    assert sizes == sorted(sizes, reverse=True) and np.isnan(lists["exact"][40])  # type: ignore[arg-type]
    assert len(lists["sender"]) == 479


@pytest.mark.slow
def test_the_other_run_needs_no_measure_of_its_own(names: Circuit) -> None:
    """Without one it keeps the logits of all rows, with one those of the last row alone."""
    lm = attnviz.load("stories")
    own = attnviz.experiment(lm, STORE, on=MARY)
    other = attnviz.experiment(lm, STORE.replace("John gave", "Mary gave"))
    found = own.circuit(other, exact=1)
    assert found.other == pytest.approx(names.other, abs=1e-5)
    np.testing.assert_allclose(found.estimate, names.estimate, atol=1e-4)


def test_models_and_texts_without_such_edges_are_refused_by_name(names: Circuit) -> None:
    lm = attnviz.load("stories")
    run = attnviz.experiment(lm, STORE, on=MARY)
    with pytest.raises(BadInput, match="tokens"):
        run.circuit(attnviz.experiment(lm, "Tom ran."))
    with pytest.raises(BadInput, match="the two answers are the same"):
        run.circuit(run)
    with unchecked(), pytest.raises(BadInput, match="takes Experiment as other and was given str"):
        run.circuit(STORE)  # type: ignore[arg-type]
    for n in (480, -1, 1.5):
        with unchecked(), pytest.raises(BadInput, match="is no number of edges"):
            names.keep(n)  # type: ignore[arg-type]
    review = attnviz.load("sentiment")
    good, bad = (
        attnviz.experiment(review, f"the food was {word} .", on=Class("positive"))
        for word in ("good", "bad")
    )
    encoder = (attnviz.experiment("minilm", f"the {word} sat") for word in ("cat", "dog"))
    for runs in ((good, bad), encoder):
        one, other = runs
        with pytest.raises(UnsupportedAttention, match="a norm stands after the sum"):
            one.circuit(other)
    translator = attnviz.load("translator")
    cats = attnviz.experiment(translator, "a cat .", on=attnviz.Target("un chat ."))
    with pytest.raises(UnsupportedAttention, match="several stacks"):
        cats.circuit(cats)


@pytest.mark.slow
def test_the_edges_of_one_pair_of_texts_are_kept_on_another() -> None:
    """The order of the first pair, the runs of the second: own switches say the same."""
    own, other = runs(tiny("gpt2"))
    found = own.circuit(other, exact=3)
    ids = torch.tensor([[6, 17, 13, 30, 9]])
    unseen = attnviz.experiment(own.prepared.lm, on=ON, inputs={"input_ids": ids}).circuit(
        other, exact=3
    )
    first = {found.edges[at] for at in found.order[:23]}
    on = unseen.work.model.allowed.clone()
    for at, (receiver, sender) in enumerate(unseen.work.places):
        on[receiver, sender] = unseen.edges[at] in first
    assert unseen.keep(23, of=found) == pytest.approx(float(unseen.work.shares(on[None])[0]))
    assert unseen.keep(23, of=found) != pytest.approx(unseen.keep(23), abs=1e-3)
    with pytest.raises(BadInput, match="edges of another model"):
        unseen.keep(3, of=runs(tiny("llama"))[0].circuit(runs(tiny("llama"))[1], exact=0))
