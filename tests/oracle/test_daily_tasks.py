"""What an interpretability researcher does with attention, each in at most three lines, and right.

A task is its lines, as the guide has them, and what has to hold of their names afterwards.
"""

from typing import Any

import numpy as np
import pytest
import torch

import attnviz

TEXT = "Lily gave the red ball to Tom. Tom gave the red"
OTHER = TEXT.replace("ball", "book")

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
    return {
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


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_done_in_three_lines(
    task: str, names: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    *lines, holds = TASKS[task]
    assert 1 <= len(lines) <= 3
    monkeypatch.chdir(tmp_path)
    found = dict(names)
    exec("\n".join(lines), found)
    assert eval(holds, found), holds
