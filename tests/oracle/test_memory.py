"""Memory: while a model writes, and of captures that are kept in half precision."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz
from attnviz.attention import memory
from attnviz.models.loaded_model import LoadedModel
from tests.support import folders


class Allocations(TorchDispatchMode):
    """The largest number of bytes that were alive at once, of tensors made inside the block."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self._n = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage.data_ptr() not in self._alive:
                    self._alive[storage.data_ptr()] = StorageWeakRef(storage), storage.nbytes()
        self._n += 1
        if self._n % 20 == 0:
            self._alive = {
                place: entry for place, entry in self._alive.items() if not entry[0].expired()
            }
            self.peak = max(self.peak, sum(size for _, size in self._alive.values()))
        return out


def writer() -> LoadedModel:
    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=31, n_embd=64, n_head=4, n_layer=2, n_positions=512, eos_token_id=None
    )
    return attnviz.load(GPT2LMHeadModel(config).eval())


@pytest.mark.slow
def test_memory_while_writing_grows_with_the_text_and_not_with_its_square() -> None:
    lm = writer()
    ids = torch.randint(31, (1, 60))
    peaks = []
    for n_tokens in (15, 60):
        with Allocations() as allocations:
            cap = attnviz.capture(lm, inputs={"input_ids": ids}, generate=n_tokens)
        assert cap.n_generated == n_tokens - 1
        cap.verify().require()
        peaks.append(allocations.peak / (60 + n_tokens))
    # bytes for each token; each step used to keep the keys and values of all steps before it
    assert peaks[1] < 1.5 * peaks[0]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], LoadedModel]]:
    root = tmp_path_factory.mktemp("models")
    yield lambda name: attnviz.load(folders.saved(root, name))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("minilm", {"text": "The cat sat on the mat because it was tired."}),
        ("stories", {"text": "Once upon a time there was a dog."}),
        ("stories-llama", {"text": "Once upon a time there was a dog."}),
        ("stories-llama", {"text": "Once upon a time there was a dog.", "generate": 6}),
        ("sentiment", {"text": "This is not a good film."}),
        ("translator", {"text": "The cat sleeps.", "target": "Le chat dort."}),
        ("shapes", {"image": np.full((64, 64, 3), 90, np.uint8)}),
    ],
)
def test_float16_keeps_calls_in_half_the_memory(name: str, given: dict[str, Any]) -> None:
    lm = attnviz.load(name)
    full = attnviz.capture(lm, **given)
    half = attnviz.capture(lm, **given, store="float16")
    sizes = [
        sum({s.data_ptr(): s.nbytes() for s in storages(cap)}.values()) for cap in (full, half)
    ]
    assert sizes[1] <= 0.51 * sizes[0]
    half.verify().require()
    for ours, theirs in zip(half.calls, full.calls, strict=True):
        assert float((ours.weights() - theirs.weights()).abs().max()) < 5e-3
        assert ours.projections.keys() == theirs.projections.keys()
        for view in attnviz.derive(ours, 0).views():
            assert view.ok, (view.stage, view.error)


def storages(cap: attnviz.Capture) -> Iterator[torch.UntypedStorage]:
    for call in cap.calls:
        for tensor in memory.tensors(call):
            if tensor.dtype != torch.bool:
                yield tensor.untyped_storage()


def test_numbers_beyond_half_precision_keep_their_type(
    tiny: Callable[[str], LoadedModel],
) -> None:
    lm = tiny("gpt2")
    attention = lm.model.transformer.h[1].attn
    with torch.no_grad():
        attention.c_proj.weight *= 1e6  # what W_O writes is beyond 65,504
    half = attnviz.capture(lm, "the cat sat", store="float16")
    out = half.call(1).projections["out"]
    assert out.output.dtype == torch.float32 and bool(out.output.isfinite().all())
    assert half.call(1).inputs.query.dtype == torch.float16


def test_scores_of_early_steps_are_dropped_while_the_model_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from attnviz.capture.generation import logits

    lm, seen = writer(), []
    joined = logits.joined
    monkeypatch.setattr(
        logits, "joined", lambda steps, rows: seen.append(steps) or joined(steps, rows)
    )
    whole = attnviz.capture(lm, inputs={"input_ids": [[1, 2, 3]]}, generate=9)
    assert all(step is not None for step in seen[0])
    monkeypatch.setattr(logits, "MAX_BYTES", 4 * 31 * 4)
    few = attnviz.capture(lm, inputs={"input_ids": [[1, 2, 3]]}, generate=9)
    assert [step is None for step in seen[1]] == [True] * 5 + [False] * 4
    assert whole.logits is not None and few.logits is not None
    torch.testing.assert_close(few.logits, whole.logits[:, -4:])


def test_offload_and_float16_go_together(
    tiny: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    lm = tiny("deberta")
    half = attnviz.capture(lm, "the cat sat on a mat", store="float16", offload=True)
    assert {tensor.dtype for call in half.calls for tensor in memory.tensors(call)} <= {
        torch.float16,
        torch.bool,
    }
