"""`cut` against the numbers of `paths`, `weights_without` and a patched capture."""

import threading

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnviz
from attnviz.errors import BadInput, Cancelled
from attnviz.experiment import Experiment
from attnviz.experiment.paths import FedSide, at_random, weights_without

STORE = "When Mary and John went to the store, John gave a drink to"


@pytest.fixture(scope="module")
def stories() -> Experiment:
    return attnviz.experiment("stories", STORE)


@pytest.mark.some(1)
@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_cut_moves_what_paths_measured(stories: Experiment, side: FedSide) -> None:
    circuit = stories.paths()
    path = circuit.strongest(1, (side,))[0]
    cut = stories.cut(path.sender, path.receiver, side)
    assert cut.moved == pytest.approx(path.moved, abs=1e-6)
    others = [circuit.of(head, path.receiver, side) for head in cut.controls]
    assert cut.moved_by_controls == pytest.approx(others, abs=1e-6)
    assert path.sender not in cut.controls


def test_cut_path_leaves_the_weight_that_weights_without_finds(stories: Experiment) -> None:
    cut = stories.cut("L0.H1", "L2.H0", "k")
    (query, key), *_ = cut.cells(3)
    before, others = weights_without(stories.prepared, ["L0.H1"], "L2.H0", query, key, "k")
    (after,) = others.values()
    assert (cut.before[query, key], cut.after[query, key]) == pytest.approx((before, after))
    assert abs(before - after) == pytest.approx(float(cut.change.max()), abs=1e-6)
    rows = cut.after.sum(-1)
    assert rows == pytest.approx(np.ones(len(rows)), abs=1e-5)


@pytest.mark.some(1)
@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_the_answer_of_cut_path_is_that_of_a_patched_capture(
    stories: Experiment, side: FedSide
) -> None:
    lm = stories.prepared.lm
    cut = stories.cut("L0.H3", "L2.H0", side)
    without = attnviz.capture(lm, STORE, changes=[attnviz.ablate("L0.H3")])
    patch = attnviz.patch("L2.H0", source=without, stage=side)
    logits = attnviz.capture(lm, STORE, changes=[patch]).logits
    assert logits is not None
    expected = logits[0, -1].double().softmax(-1).numpy()
    assert np.abs(cut.answer.after - expected).max() < 1e-5
    assert np.abs(cut.answer.after - cut.answer.before).max() > 1e-4
    assert len(cut.answer.controls) == len(cut.controls)


def test_the_public_cut_path_reads_a_measure_and_prints_its_control(stories: Experiment) -> None:
    lm, on = stories.prepared.lm, attnviz.NextToken(" Mary", against=" John")
    cut = attnviz.experiment(lm, STORE, on=on).cut((0, 3), "L2.H0", "v")
    same = stories.cut("L0.H3", "L2.H0", "v")
    assert cut.moved == pytest.approx(same.moved, abs=1e-6)
    assert len(same.answer.after) > 1 == len(cut.answer.after)
    without = attnviz.capture(lm, STORE, changes=[attnviz.ablate("L0.H3")])
    patched = attnviz.capture(lm, STORE, changes=[attnviz.patch("L2.H0", without, "v")])
    tokenizer = lm.text_tokenizer()
    mary, john = (tokenizer.get_vocab()[tokenizer.tokenize(name)[0]] for name in (" Mary", " John"))
    assert patched.logits is not None
    expected = float(patched.logits[0, -1, mary] - patched.logits[0, -1, john])
    assert cut.answer.after == pytest.approx([expected], abs=1e-4)
    assert cut.answer.controls.shape == (len(cut.controls), 1)
    assert repr(cut).startswith(f"CutPath {cut.sender} → L2.H0.v: moves {cut.moved:.3f}, ")
    with pytest.raises(BadInput, match="side is 'z'; give one of q, k, v"):
        attnviz.experiment(lm, STORE).cut("L0.H3", "L2.H0", "z")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="L0 is 4 heads; give one"):
        attnviz.experiment(lm, STORE).cut("L0", "L2.H0", "v")


D_HEAD, KEYS = 36, slice(36, 72)  # of the second head of four


def run_with_hooks(
    model: nn.Module, ids: Tensor, *, without_head: bool = False, keys: Tensor | None = None
) -> tuple[Tensor, Tensor, np.ndarray]:
    """Queries and keys of L2.H1, and the next token's probabilities; L0.H1 or the keys changed."""
    seen: dict[str, Tensor] = {}

    def zero(_module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        mixed = args[0].clone()
        mixed[..., KEYS] = 0
        return (mixed, *args[1:])

    def watch(_module: nn.Module, _args: object, output: Tensor) -> Tensor:
        q, k, v = output.clone().split(4 * D_HEAD, -1)
        seen["q"], seen["k"] = q[0, :, KEYS].clone(), k[0, :, KEYS].clone()
        if keys is not None:
            k[0, :, KEYS] = keys
        return torch.cat([q, k, v], -1)

    hooks = [model.get_submodule("transformer.h.2.attn.c_attn").register_forward_hook(watch)]
    if without_head:
        writes = model.get_submodule("transformer.h.0.attn.c_proj")
        hooks.append(writes.register_forward_pre_hook(zero))
    with torch.no_grad():
        logits = model(ids, attention_mask=torch.ones_like(ids)).logits[0, -1]
    for hook in hooks:
        hook.remove()
    return seen["q"], seen["k"], logits.double().softmax(-1).numpy()


@pytest.mark.slow
def test_what_chance_moves_is_that_of_own_hooks(stories: Experiment) -> None:
    """By plain PyTorch: keys with and without a head, their difference turned, one softmax."""
    lm = stories.prepared.lm
    ids = torch.tensor([lm.tokenize(STORE)["input_ids"]])
    q, clean, before = run_with_hooks(lm.model, ids)
    _, without, _ = run_with_hooks(lm.model, ids, without_head=True)
    causal = torch.ones(len(q), len(q), dtype=torch.bool).tril()

    def moved(keys: Tensor) -> float:
        old, new = (
            (q @ k.T / D_HEAD**0.5).masked_fill(~causal, -torch.inf).softmax(-1)
            for k in (clean, keys)
        )
        return float(0.5 * (new - old).abs().sum(-1).mean())

    generator = torch.Generator().manual_seed(0)
    turns = [torch.linalg.qr(torch.randn(36, 36, generator=generator)).Q for _ in range(20)]
    drawn = [clean + (without - clean) @ turn for turn in turns]
    by_chance = [moved(keys) for keys in drawn]
    cut = stories.cut("L0.H1", "L2.H1", "k", to="zero")
    assert cut.moved == pytest.approx(moved(without), abs=1e-5)
    assert cut.moved_by_chance == pytest.approx(by_chance, abs=1e-5)
    assert min(by_chance) > 0.001 < np.std(by_chance)
    table = stories.paths(to="zero")
    places = table.senders.index(cut.sender), table.receivers.index(cut.receiver), 1
    assert table.by_chance[places] == pytest.approx(np.mean(by_chance[:4]), abs=1e-5)
    ends = min(by_chance[:4]), max(by_chance[:4])
    assert table.chance_range[(slice(None), *places)] == pytest.approx(ends, abs=1e-5)
    assert np.isnan(table.by_chance[:, :, 2]).all()
    columns, first = table.to_dict(), table.strongest(1, ("q",))[0]
    assert columns["by_chance"][0] == table.chance(first) != columns["moved"][0]
    assert (np.isnan(table.by_chance[:, :, :2]) == np.isnan(table.moved[:, :, :2])).all()
    for at in (0, 7):
        after = run_with_hooks(lm.model, ids, keys=drawn[at])[2]
        assert np.abs(cut.answer_by_chance[at] - after).max() < 1e-5
        assert np.abs(after - before).max() > 1e-5


@pytest.mark.some(1)
@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_an_input_changed_at_random_changes_as_much(stories: Experiment, side: FedSide) -> None:
    own = torch.randn(3, 17, 36)
    other = own + torch.randn(3, 17, 36)
    for drawn in at_random(own, other, 3):
        sizes = (drawn - own).norm(dim=-1), (other - own).norm(dim=-1)
        torch.testing.assert_close(*sizes)
        angle = torch.nn.functional.cosine_similarity(drawn - own, other - own, dim=-1)
        assert angle.abs().mean() < 0.5
    cut = stories.cut("L0.H1", "L2.H1", side)
    assert np.isnan(cut.moved_by_chance).all() == (side == "v")
    assert cut.answer_by_chance.shape == (20, len(cut.answer.before))
    assert np.abs(cut.answer_by_chance - cut.answer.before).max() > 1e-4


def test_cut_path_refuses_what_is_no_path(stories: Experiment) -> None:
    with pytest.raises(BadInput, match="must run after the sender"):
        stories.cut("L2.H0", "L0.H1", "k")
    with pytest.raises(BadInput, match="must run after the sender"):
        stories.cut("L1.H0", "L1.H1", "k")


def test_paths_tells_progress_and_stops(stories: Experiment) -> None:
    told: list[float] = []
    stories.paths(rows=8, progress=told.append)
    assert told == [0.5, 1.0]
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        stories.paths(cancel=cancel)
