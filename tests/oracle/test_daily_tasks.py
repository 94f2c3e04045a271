"""What an interpretability researcher does with attention, each in at most three lines, and right.

A task is its lines, as the guide has them, and what has to hold of their names afterwards.
"""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import attnviz

TEXT = "Lily gave the red ball to Tom. Tom gave the red"
OTHER = TEXT.replace("ball", "book")

# what transformers' eager attention, own hooks or plain numpy say, in the names of `names`
BASICS = {
    "the weights of one head": (
        "weights = attnviz.capture(lm, TEXT).weights('L2.H1')",
        "abs(weights - eager[2][0, 1].numpy()).max() < 1e-6",
    ),
    "the weights of all heads": (
        "weights = plain.all_weights()",
        "all(abs(own - other[0].numpy()).max() < 1e-6 for own, other in zip(weights, eager))",
    ),
    "every step of a head": (
        "steps = plain.head('L2.H1')",
        "np.allclose(steps['weights'] @ steps['v'], steps['mixed'], atol=1e-5)"
        " and np.allclose(steps['weights'], eager[2][0, 1].numpy(), atol=1e-6)",
    ),
    "how far the numbers are from the model's own": (
        "found = plain.verify()",
        "found.ok and 'ok' in repr(found)",
    ),
    "a checkpoint in a folder": (
        "lm.model.save_pretrained('mine')",
        "cap = attnviz.capture(attnviz.load('mine'), inputs={'input_ids': ids})",
        "abs(cap.weights('L2.H1') - eager[2][0, 1].numpy()).max() < 1e-6",
    ),
    "a padded batch of texts": (
        "cap = attnviz.capture(lm, [*texts, TEXT])",
        "weights = cap.weights('L2.H1', batch=3)",
        "abs(weights[-len(ids[0]):, -len(ids[0]):] - eager[2][0, 1].numpy()).max() < 1e-5"
        " or abs(weights[:len(ids[0]), :len(ids[0])] - eager[2][0, 1].numpy()).max() < 1e-5",
    ),
    "the logits without a head": (
        "cap = attnviz.capture(lm, TEXT, changes=[attnviz.ablate('L2.H1', to='zero')])",
        "(cap.logits[0, -1] - without).abs().max() < 1e-5",
    ),
    "a head replaced by its mean over texts": (
        "effects = run.effects(corpus=texts, heads=['L2.H1'])",
        "effects.to == 'mean' and effects.of('L2.H1') != run.effects(to='zero').of('L2.H1')",
    ),
    "queries at zero": (
        "cap = attnviz.capture(lm, TEXT, changes=[attnviz.pattern('L2.H1', 'even')])",
        "np.allclose(cap.weights('L2.H1')[3, :4], 0.25)",
    ),
    "a head's output from another text": (
        "other = attnviz.capture(lm, OTHER)",
        "cap = attnviz.capture(lm, TEXT, changes=[attnviz.patch('L2.H1', other)])",
        "np.allclose(cap.head('L2.H1')['mixed'], other.head('L2.H1')['mixed'], atol=1e-6)",
    ),
    "direct logit attribution": (
        "direct = run.direct()",
        "abs(direct.values.sum() - lead) < 1e-4",
    ),
    "another mask for one head": (
        "cap = attnviz.capture(lm, TEXT, changes=[attnviz.mask('L2.H1', 'causal+window:4')])",
        "cap.weights('L2.H1')[8, :4].max() == 0 < cap.weights('L2.H1')[8, 5:].max()",
    ),
    "a table of heads as a file": (
        "path = attnviz.save(plain.table(['entropy', 'previous']), 't.csv')",
        "len(path.read_text(encoding='utf-8-sig').splitlines()) == 17",
    ),
    "a heatmap for a paper": (
        "path = attnviz.save(plain, 'head.svg', head='L2.H1', width_in=3.25)",
        "'<svg' in path.read_text() and 'width=\"234' in path.read_text()",
    ),
    "a page that opens without a network": (
        "path = attnviz.save(plain, 'x.html')",
        "\"default-src 'none'\" in path.read_text() and 'src=\"http' not in path.read_text()",
    ),
    "two texts beside each other": (
        "pair = [attnviz.capture(lm, text) for text in (TEXT, OTHER)]",
        "path = attnviz.save(tuple(pair), 'difference.svg', head='L2.H1')",
        "'<svg' in path.read_text()",
    ),
    "one head of a long text": (
        "cap = attnviz.capture('minilm', 'a long text about cats and dogs ' * 90, cut=True)",
        "pyramid = attnviz.tiles.build(cap.call(0), 2)",
        "cells = attnviz.tiles.strongest(pyramid, 3)",
        "all(abs(w - cap.weights('L0.H2')[q, k]) < 1e-6 for w, q, k in"
        " ((cell.weight, cell.query, cell.key) for cell in cells))",
    ),
    "what another tool kept": (
        "cap = attnviz.from_attentions(eager, plain.tokens.labels)",
        "np.array_equal(cap.weights('L2.H1'), eager[2][0, 1].numpy())",
    ),
    "a translation's cross-attention": (
        "cap = attnviz.capture('translator', 'the cat sees a small bird', generate=8)",
        "weights = cap.weights(1, kind='cross')",
        "np.allclose(weights.sum(-1), 1, atol=1e-5) and weights.shape[0] == 4",
    ),
}

TASKS = {
    "the heads with the largest induction score on random tokens": (
        "cap = attnviz.capture(lm, 'cat dog sun red hat big cat dog sun red hat big')",
        "best = cap.table('induction').sort('induction', n=2)",
        "len(best) == 2 and best['induction'][0] > 0.5",
    ),
    "path patching: one head into a later head's keys, the other heads held": (
        "path = run.paths(between='heads', answer=True, senders=['L0.H1'])",
        "str(path.strongest(1)[0]).startswith('L0.H1 → L')",
    ),
    "the attention of a continuation, token by token": (
        "cap = attnviz.capture(lm, TEXT, generate=3)",
        "cap.weights('L2.H1').shape[0] >= len(plain.tokens) + 2",
    ),
    "an attention from a tutorial": (
        "cap = attnviz.capture(attnviz.load(layer), inputs={'query': x, 'key': x, 'value': x})",
        "cap.verify().ok and cap.weights('L0.H1').shape == (5, 5)",
    ),
    "two surveys subtracted, with intervals": (
        "a, b = (attnviz.survey(lm, some) for some in (texts, texts[:2]))",
        "table = a - b",
        "(table['peak_low'] <= table['peak']).all() and abs(table['peak']).max() > 0",
    ),
    "attention rollout and attention flow": (
        "rollout, flow = plain.rollout(), plain.flow(5)",
        "np.allclose(rollout.sum(-1), 1, atol=1e-5) and flow[0] > 0",
    ),
    "gradient importance beside ablation": (
        "exact, guess = run.effects(to='zero'), run.effects(to='zero', exact=False)",
        "agreement = guess.agreement(exact)",
        "agreement is not None and not guess.exact and exact.exact",
    ),
    "the logit split over heads and source tokens": (
        "shares = run.direct(by='token')",
        "abs(shares.of('L2.H1').sum() - run.direct().of('L2.H1')) < 1e-5",
    ),
    "three heads in one figure of a column's width": (
        "path = attnviz.save(plain, 'f.svg', heads=['L2.H1', 'L2.H2', 'L0.H1'], width_in=3.25)",
        "path.read_text().count('L2.H') >= 2 and 'width=\"234' in path.read_text()",
    ),
    "every head and measure over texts, for pandas": (
        "columns = attnviz.survey(lm, texts).table().to_dict()",
        "len(columns['peak']) == 16 and 'peak_low' in columns",
    ),
    "the same, a row for each text": (
        "table = attnviz.capture(lm, texts[:2]).table(by_text=True)",
        "len(table) == 32",
    ),
    "a capture read without its model": (
        "path = attnviz.save(plain, 'run.safetensors')",
        "again = attnviz.read(path)",
        "np.array_equal(again.weights('L2.H1'), plain.weights('L2.H1'))",
    ),
    "attention over a picture's patches, for print": (
        "cap = attnviz.capture('shapes', image=pixels)",
        "path = attnviz.save(cap, 'p.svg', view='picture', head='L3.H1', picture=pixels)",
        "path.read_text().count('<image') >= 2",
    ),
    "activation patching by position over a set of pairs": (
        "many = attnviz.experiment(lm, [(TEXT, OTHER)] * 3, on)",
        "found = many.patching(slots={'changed': DifferenceSlot(), 'last': -1})",
        "found.values.shape == (16, 2, 3) and abs(found.share).max() > 0.1",
    ),
    "effects over a set of texts with standard errors": (
        "found = attnviz.experiment(lm, [TEXT, OTHER], on).effects(to='zero')",
        "found.se.shape == (16,) and abs(found.of('L2.H1')[0] - run.effects(to='zero')"
        ".of('L2.H1')) < 1e-4",
    ),
    "the OV circuit of a head from its weights": (
        "ov = attnviz.circuits(lm).ov('L2.H1', through='mlp0')",
        "ov.share > 0.9 > abs(ov.shuffled).max()",
    ),
    "composition of all pairs of heads": (
        "k = attnviz.circuits('stories-llama').composition('k')",
        "k.of('L0.H4', 'L1.H5') > 1.5 * k.baseline",
    ),
    "the circuit of an answer, cut out": (
        "other = attnviz.experiment(lm, OTHER, on=on)",
        "circuit = run.circuit(other, exact=20)",
        "circuit.keep(479) > 0.99 and abs(circuit.keep(0)) < 0.01",
    ),
    "attention knockout: a look forbidden": (
        "looks = run.cuts([('L2.H1', len(plain.tokens) - 1, key) for key in (1, 5)])",
        "looks.moved.shape == (2,) and looks.moved.max() >= 0",
    ),
    "the logit lens": ("states = run.lens()", "len(states.to_dict()) > 1"),
    "any result as a file": (
        "path = attnviz.save(run.effects(to='zero'), 'effects.csv')",
        "len(path.read_text(encoding='utf-8-sig').splitlines()) == 17",
    ),
}


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What a researcher has at hand."""
    from attnviz.experiment import DifferenceSlot
    from attnviz.worlds import shapes

    lm, on = attnviz.load("stories"), attnviz.NextToken(" ball", against=" book")
    torch.manual_seed(0)
    ids = torch.as_tensor(lm.tokenize(TEXT)["input_ids"])[None]
    eager: Any = copy.deepcopy(lm.model)
    eager.set_attn_implementation("eager")

    def zeroed(_module: object, args: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        width = args[0].shape[-1] // 4
        kept = args[0].clone()
        kept[..., width : 2 * width] = 0
        return (kept,)

    with torch.no_grad():
        clean = eager(input_ids=ids, output_attentions=True)
        handle = eager.transformer.h[2].attn.c_proj.register_forward_pre_hook(zeroed)
        without = eager(input_ids=ids).logits[0, -1]
        handle.remove()
    ball, book = (lm.tokenize(word)["input_ids"][-1] for word in (" ball", " book"))
    return {
        "ids": ids,
        "eager": clean.attentions,
        "lead": float(clean.logits[0, -1, ball] - clean.logits[0, -1, book]),
        "without": without,
        "attnviz": attnviz,
        "np": np,
        "DifferenceSlot": DifferenceSlot,
        "lm": lm,
        "on": on,
        "TEXT": TEXT,
        "OTHER": OTHER,
        "run": attnviz.experiment(lm, TEXT, on=on),
        "plain": attnviz.capture(lm, TEXT),
        "texts": ["Tom ran to the park.", "Lily had a red ball.", "The dog saw a cat."],
        "pixels": shapes.sample(3).picture(48),
        "layer": torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(),
        "x": torch.randn(1, 5, 8),
    }


@pytest.mark.some(20)
@pytest.mark.parametrize("task", [*BASICS, *TASKS])
def test_a_task_is_done_in_three_lines(
    task: str, names: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    *lines, holds = (BASICS | TASKS)[task]
    assert 1 <= len(lines) <= 3
    monkeypatch.chdir(tmp_path)
    found = dict(names)
    exec("\n".join(lines), found)
    assert eval(holds, found), holds
