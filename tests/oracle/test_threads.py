"""Captures in many threads: one model, one tokenizer, other settings in each thread."""

import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.attention import memory
from attnviz.capture.blocked_rows import blocked_rows
from attnviz.capture.plan.planners import plan
from attnviz.capture.record.recorder import record
from attnviz.capture.request import Request
from attnviz.errors import TooLarge
from attnviz.models.loaded_model import LoadedModel
from tests.support import folders

SHORT, LONG = "the cat sat", "the cat sat on a mat and " * 9


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A decoder whose tokenizer has no padding token."""
    return attnviz.load(folders.save(tmp_path_factory.mktemp("gpt2") / "model", "gpt2"))


def ids_of(lm: LoadedModel, request: Request) -> list[list[int]]:
    tensor = plan(lm, request).tensor("input_ids")
    assert tensor is not None
    found: list[list[int]] = tensor.tolist()
    return found


def test_plans_in_eight_threads_do_not_change_each_other(gpt2: LoadedModel) -> None:
    """One text, a padded batch, a cut text and one that has to be refused, all at once."""
    alone, batch = Request.of(SHORT), Request.of([SHORT, "a dog"])
    cut, refused = Request.of(LONG, cut=True), Request.of(LONG)
    expected = {request: ids_of(gpt2, request) for request in (alone, batch, cut)}
    assert len(expected[cut][0]) == gpt2.max_tokens

    def work(number: int) -> None:
        for turn in range(60):
            request = (alone, batch, cut, refused)[(number + turn) % 4]
            if request is refused:
                with pytest.raises(TooLarge):
                    plan(gpt2, request)
            else:
                assert ids_of(gpt2, request) == expected[request]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_a_batch_leaves_the_tokenizer_as_it_was(gpt2: LoadedModel) -> None:
    tokenizer = gpt2.text_tokenizer()
    before = tokenizer.pad_token, tokenizer.all_special_ids, tokenizer.padding_side
    cap = attnviz.capture(gpt2, [SHORT, "a dog"])
    assert cap.tokens_of(1).padding.tolist() == [False, False, True]
    assert (tokenizer.pad_token, tokenizer.all_special_ids, tokenizer.padding_side) == before


def test_padding_is_what_the_tokenizer_itself_gives(minilm: LoadedModel) -> None:
    texts = ["A dog.", "The quick brown fox jumps."]
    theirs = minilm.tokenize(texts, padding=True, return_tensors="pt")
    ours = plan(minilm, Request.of(texts))
    assert set(ours.inputs) == set(theirs)
    for name, tensor in theirs.items():
        assert torch.equal(ours.tensor(name), tensor), name
    assert ours.tokens[None][0].pieces[-3:] == ("[PAD]",) * 3
    assert ours.tokens[None][0].special[-3:].all()


def test_a_fully_masked_row_does_not_depend_on_other_threads() -> None:
    """torch's fast path is switched off for the whole process while a module is recorded."""
    expected = {row.implementation: row.values for row in blocked_rows()}
    module = torch.nn.MultiheadAttention(6, 2).eval()
    x = torch.randn(3, 1, 6)
    with torch.no_grad(), record(module):
        module(x, x, x)
        assert not torch.backends.mha.get_fastpath_enabled()
        with ThreadPoolExecutor(1) as pool:
            (meanwhile,) = pool.map(lambda _: blocked_rows(), [0])
    for row in meanwhile:
        np.testing.assert_array_equal(row.values, expected[row.implementation])


def test_a_module_that_another_thread_runs_is_not_recorded() -> None:
    """Its hooks are called for the other thread's run too, between those of our own."""
    module = torch.nn.MultiheadAttention(6, 2, batch_first=True).eval()
    x, other = torch.randn(1, 3, 6), torch.randn(1, 5, 6)

    def run_elsewhere() -> None:
        with torch.no_grad():
            module(other, other, other)

    handle = module.register_forward_pre_hook(lambda *_: _once(run_elsewhere))
    try:
        with torch.no_grad(), record(module) as calls:
            module(x, x, x)
    finally:
        handle.remove()
    assert [call.n_query for call in calls] == [3]
    assert calls[0].verify().ok and set(calls[0].projections) == {"q", "k", "v", "out"}


def _once(work: Callable[[], None]) -> None:
    """Do the work in another thread, unless this is that thread."""
    if threading.current_thread() is threading.main_thread():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "deberta", "vit"])
def test_a_capture_is_freed_without_a_garbage_collection(tmp_path: Path, name: str) -> None:
    lm = attnviz.load(folders.save(tmp_path, name))
    given = {"image": np.zeros((12, 12, 3), np.uint8)} if name == "vit" else {"text": SHORT}
    attnviz.capture(lm, **given)  # fills the caches that torch and transformers keep
    gc.collect()
    gc.disable()
    try:
        cap = attnviz.capture(lm, **given)
        kept = [weakref.ref(tensor) for call in cap.calls for tensor in memory.tensors(call)]
        assert len(kept) > 4
        del cap
        assert [reference() for reference in kept if reference() is not None] == []
    finally:
        gc.enable()


def test_a_generated_capture_is_freed_without_a_garbage_collection(gpt2: LoadedModel) -> None:
    attnviz.capture(gpt2, SHORT, generate=3)
    gc.collect()
    gc.disable()
    try:
        cap = attnviz.capture(gpt2, SHORT, generate=3)
        kept = [weakref.ref(tensor) for call in cap.calls for tensor in memory.tensors(call)]
        del cap
        assert all(reference() is None for reference in kept)
    finally:
        gc.enable()
