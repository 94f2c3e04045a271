"""Sessions in threads: nobody sees another's changes, and the model is as it was."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

import attnviz
from attnviz.changes import Change, ablate, cut, pattern
from attnviz.models.loaded_model import LoadedModel
from tests.support.questions import STORE

N_CAPTURES, N_THREADS = 200, 8
CHANGES: tuple[tuple[Change, ...], ...] = (
    (),
    (ablate("L0.H0", "zero"),),
    (pattern("L2.H1"),),
    (),
    (cut("L3.H0", key=4), ablate("L1.H2")),
)


def parameters(lm: LoadedModel) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in lm.model.state_dict().items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stories", "bloom"])
def test_changed_and_plain_captures_of_eight_threads_do_not_meet(name: str) -> None:
    """At the attention function, and where W_O of a model with code of its own reads the heads."""
    lm = attnviz.load("stories") if name == "stories" else own_code()
    sets = CHANGES if name == "stories" else (*CHANGES[:2], (pattern("L0.H1"),))
    before = parameters(lm)
    hooks = n_hooks(lm)
    alone = [last(lm, changes) for changes in sets]
    assert all(not torch.equal(alone[0], other) for n, other in enumerate(alone) if sets[n])
    with ThreadPoolExecutor(N_THREADS) as pool:
        numbers = [n % len(sets) for n in range(N_CAPTURES if name == "stories" else N_THREADS)]
        together = list(pool.map(lambda n: last(lm, sets[n]), numbers))
    for n, hidden in zip(numbers, together, strict=True):
        assert torch.equal(hidden, alone[n]), sets[n]
    after = parameters(lm)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert n_hooks(lm) == hooks


def own_code() -> LoadedModel:
    from transformers import BloomConfig, BloomForCausalLM

    torch.manual_seed(7)
    config = BloomConfig(vocab_size=97, hidden_size=64, n_layer=2, n_head=4)
    return attnviz.load(BloomForCausalLM(config).eval())


def last(lm: LoadedModel, changes: tuple[Change, ...]) -> Tensor:
    given = {"text": STORE} if lm.tokenizer else {"inputs": {"input_ids": [[5, 7, 11, 7]]}}
    logits = attnviz.capture(lm, changes=changes, **given).logits
    assert logits is not None
    return logits[0, -1]


def n_hooks(lm: LoadedModel) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in lm.model.modules())
