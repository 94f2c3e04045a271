"""Captures of which some heads alone are kept, beside the whole capture of the same pass."""

import gc
import re
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.stored_weights import StoredWeights
from attnviz.cli.main import main
from attnviz.errors import BadInput
from attnviz.metrics.table import HeadTable
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import HeadId, Site
from tests.oracle.test_head_lists import GPT, D, N
from tests.support.tiny.check import tiny_case

# shared keys, one product for q, k and v, pairs beside each other, sinks, a bias of each head that
# layers share, one of each layer's own, slopes, a softcap and a window, two calls in a layer,
# windows of a picture, encoder and decoder, pictures and text, sound, own code
TYPES = (
    "llama", "gpt2", "cohere", "gpt_oss", "t5", "beit", "bloom", "gemma2", "diffllama",
    "marian", "vit", "clip", "wav2vec2", "qwen2_audio", "whisper", "falcon", "deberta-v2",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("swin", "hiera")),  # many windows
)  # fmt: skip


def site_of(call: AttentionCall, head: int) -> Site:
    return Site(call.layer, head, call.kind, call.stack)


def some_heads(cap: Capture) -> list[Site]:
    """The last head of the first call; all but the first of the last one, if it has three."""
    first, last = cap.calls[0], cap.calls[-1]
    chosen = [site_of(first, first.n_heads - 1)]
    if last.layer != first.layer or last.kind != first.kind or last.stack != first.stack:
        chosen += [site_of(last, head) for head in range(last.n_heads) if head != 0]
    return chosen


def require_equal(ours: object, theirs: object) -> None:
    if isinstance(ours, Tensor):
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0, equal_nan=True)
    else:
        assert ours == theirs


def require_same_head(kept: AttentionCall, whole: AttentionCall, head: int) -> None:
    """Everything that is kept of a head is what the whole capture has of it."""
    for batch in {0, whole.n_batch - 1}:
        ours, theirs = kept.stages(head, batch), whole.stages(head, batch)
        assert list(ours) == list(theirs)
        for stage in ours:
            require_equal(ours[stage], theirs[stage])
    require_equal(kept.weights(head), whole.weights(head))
    if isinstance(whole.inputs, StoredWeights):
        return
    ours, theirs = attnviz.derive(kept, head), attnviz.derive(whole, head)
    for name in ("x", "unrotated_q", "unrotated_k", "w_q", "w_k", "w_v", "w_o", "value_norms"):
        require_equal(getattr(ours, name), getattr(theirs, name))
    if kept.inputs.only is None:  # the layer has one head
        assert ours.concat is not None
        return
    assert ours.concat is None and ours.projected is None and "concat" in ours.absent
    assert ours.errors.keys() == theirs.errors.keys() - {"concat", "projected"}


def capture_of(name: str, **more: Any) -> Capture:
    model, inputs, _ = tiny_case(name)
    return attnviz.capture(attnviz.load(model), inputs=inputs, **more)


@pytest.mark.some(1)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("name", TYPES)
def test_the_heads_that_are_kept_are_those_of_the_whole_capture(name: str, tmp_path: Path) -> None:
    model, inputs, _ = tiny_case(name)
    lm = attnviz.load(model)
    whole = attnviz.capture(lm, inputs=inputs)
    sites = some_heads(whole)
    kept = attnviz.capture(lm, inputs=inputs, keep=sites)
    wholes = {call.name: call for call in whole.calls}
    named = {(site.layer, site.kind, site.stack) for site in sites}
    assert {(c.layer, c.kind, c.stack) for c in kept.calls} == named
    attnviz.save(kept, tmp_path / "kept.safetensors", with_weights=True)
    again = attnviz.read(tmp_path / "kept.safetensors")
    for cap in (kept, again):
        cap.verify().require()
        for call in cap.calls:
            heads = [s.head for s in sites if site_of(call, s.head or 0) == s]
            assert list(call.kept_heads) == heads and call.n_heads == wholes[call.name].n_heads
            for head in heads:
                require_same_head(call, wholes[call.name], head)
    assert kept.nbytes < whole.nbytes
    table, all_rows = kept.table(), places(whole.table())
    own = [all_rows.index(place) for place in places(table)]
    assert len(set(own)) == len(own) == sum(len(call.kept_heads) for call in kept.calls)
    for measure in table.measures:
        np.testing.assert_allclose(table[measure], whole.table()[measure][own], atol=1e-6)


def places(table: HeadTable) -> list[tuple[object, ...]]:
    names = [name for name in table.columns if name not in table.measures]
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def test_heads_in_a_list_of_modules_are_heads_of_their_layer() -> None:
    torch.manual_seed(0)
    lm = attnviz.load(GPT().eval())
    x = {"x": torch.randn(1, N, D)}
    whole = attnviz.capture(lm, inputs=x)
    kept = attnviz.capture(lm, inputs=x, keep="L1.H2")
    assert [list(call.kept_heads) for call in kept.calls] == [[2]]
    require_same_head(kept.call(1), whole.call(1), 2)
    kept.verify().require()


# --- ways to name them --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama() -> LoadedModel:
    """Three layers of four heads, which share two heads of keys."""
    return llama_of(3)


def llama_of(n_layers: int) -> LoadedModel:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50, hidden_size=64, intermediate_size=32, num_hidden_layers=n_layers,
        num_attention_heads=4, num_key_value_heads=2, head_dim=24, max_position_embeddings=2048,
    )  # fmt: skip
    return attnviz.load(LlamaForCausalLM(config).eval())


def text(n: int = 40, seed: int = 0) -> dict[str, Any]:
    ids = torch.randint(50, (1, n), generator=torch.Generator().manual_seed(seed))
    return {"inputs": {"input_ids": ids}}


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("L1.H2", {1: [2]}),
        (HeadId(1, 2), {1: [2]}),
        ([(1, 2), "L1.H0", Site(1, 2)], {1: [0, 2]}),
        (["L2.H3", 1, "L1.H0"], {1: [0, 1, 2, 3], 2: [3]}),
        ([f"L0.H{head}" for head in range(4)], {0: [0, 1, 2, 3]}),
    ],
)
def test_heads_are_named_as_everywhere(llama: LoadedModel, keep: Any, kept: Any) -> None:
    cap = attnviz.capture(llama, **text(), keep=keep)
    assert {call.layer: list(call.kept_heads) for call in cap.calls} == kept
    assert all(call.n_heads == 4 for call in cap.calls)
    whole = [call for call in cap.calls if len(kept[call.layer]) == 4]
    assert all(call.inputs.only is None for call in whole)


@pytest.mark.some(2)
@pytest.mark.parametrize("n", [40, 600])
@pytest.mark.parametrize("more", [{}, {"store": "float16"}, {"offload": True}])
def test_heads_go_with_the_other_arguments(llama: LoadedModel, n: int, more: Any) -> None:
    whole = attnviz.capture(llama, **text(n), **more)
    kept = attnviz.capture(llama, **text(n), keep=["L1.H1", "L1.H3", "L2.H0"], **more)
    for call in kept.calls:
        for head in call.kept_heads:
            require_same_head(call, whole.call(call.layer), head)
    kept.verify().require()


def test_heads_of_what_a_model_writes(llama: LoadedModel) -> None:
    whole = attnviz.capture(llama, **text(), generate=3)
    kept = attnviz.capture(llama, **text(), generate=3, keep="L1.H3")
    require_same_head(kept.call(1), whole.call(1), 3)


def test_heads_of_a_changed_pass(llama: LoadedModel) -> None:
    changes = [attnviz.ablate("L1.H2", to="zero"), attnviz.pattern("L1.H3", "even")]
    whole = attnviz.capture(llama, **text(), changes=changes)
    kept = attnviz.capture(llama, **text(), changes=changes, keep=["L1.H2", "L1.H3", "L2.H0"])
    for head in (2, 3):
        require_same_head(kept.call(1), whole.call(1), head)
    assert kept.call(1).changes == whole.call(1).changes
    assert not kept.head("L1.H2").mixed.any()


# --- what is not kept ---------------------------------------------------------------------------


def test_what_was_not_kept_is_refused_by_name(llama: LoadedModel, tmp_path: Path) -> None:
    cap = attnviz.capture(llama, **text(), keep=["L0", "L1.H1", "L1.H3", "L2"])
    left_out = (
        lambda: cap.weights("L1.H2"),
        lambda: cap.head("L1.H2"),
        lambda: attnviz.tiles.build(cap.call(1), 2),
        lambda: attnviz.save(cap, tmp_path / "head.csv", head="L1.H2"),
        lambda: attnviz.save(cap, tmp_path / "head.svg", head="L1.H2"),
        lambda: attnviz.capture(llama, **text(), changes=[attnviz.patch("L1.H2", cap)]),
    )
    for use in left_out:
        with pytest.raises(BadInput, match="head 2 of .* not in this capture, .* H1, H3") as error:
            use()
        assert error.value.code == "head_left_out"
    all_heads = (
        lambda: cap.weights(1),
        lambda: cap.all_weights(),
        lambda: cap.rollout(),
        lambda: attnviz.metrics.describe(cap),
        lambda: attnviz.save(cap, tmp_path / "heads.svg", view="heads"),
    )
    for use in all_heads:
        with pytest.raises(BadInput, match="keeps H1, H3 of layer 1 alone, .* all heads") as error:
            use()
        assert error.value.code == "heads_left_out"
    assert not list(tmp_path.iterdir())
    assert "2 of 4 heads" in repr(cap.call(1)) and "2–4 of 4 heads" in repr(cap)


def test_what_works_names_heads_by_their_own_numbers(llama: LoadedModel, tmp_path: Path) -> None:
    whole = attnviz.capture(llama, **text())
    cap = attnviz.capture(llama, **text(), keep=["L1.H1", "L1.H3"])
    scores, all_scores = (attnviz.metrics.score(one).fractions for one in (cap, whole))
    np.testing.assert_array_equal(scores[0, [1, 3]], all_scores[1, [1, 3]])
    assert np.isnan(scores[0, [0, 2]]).all()
    tile = attnviz.tiles.build(cap.call(1), 3)
    np.testing.assert_allclose(tile.row(39), whole.weights("L1.H3")[39], atol=1e-6)
    attnviz.save(cap, tmp_path / "heads.csv")
    rows = (tmp_path / "heads.csv").read_text().splitlines()
    column = rows[0].split(",").index("head")
    assert {row.split(",")[column] for row in rows[1:]} == {"1", "3"}
    attnviz.save(cap, tmp_path / "heads.npz")
    arrays = np.load(tmp_path / "heads.npz")
    assert arrays["heads_L1"].tolist() == [1, 3] and arrays["weights_L1"].shape[0] == 2
    patched = [attnviz.patch("L1.H3", one) for one in (cap, whole)]
    outputs = [attnviz.capture(llama, **text(seed=1), changes=[one]).logits for one in patched]
    require_equal(outputs[0], outputs[1])


def test_the_command_prints_the_heads_that_are_kept(
    llama: LoadedModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cap = attnviz.capture(llama, **text(5), keep=["L1.H1", "L1.H3"])
    file = attnviz.save(cap, tmp_path / "kept.safetensors")
    assert main(["capture", "--from", str(file), "--layer", "1", "--head", "all"]) == 0
    printed = capsys.readouterr().out
    assert re.findall(r"weights of (L1\.H\d)", printed) == ["L1.H1", "L1.H3"]
    assert main(["capture", "--from", str(file), "--layer", "1", "--head", "2"]) == 2
    assert "head 2 of this layer is not in this capture" in capsys.readouterr().err


# --- memory -------------------------------------------------------------------------------------


class Allocated(TorchDispatchMode):
    """Counts the bytes of the memories that operations make, as long as they live."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._alive: dict[int, weakref.ref[Any]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor) and not tensor.is_meta:
                self._add(tensor.untyped_storage())
        return made

    def _add(self, storage: torch.UntypedStorage) -> None:
        address, n_bytes = storage._cdata, storage.nbytes()
        if address in self._alive or not n_bytes:
            return

        def freed(_: object) -> None:
            del self._alive[address]
            self.now -= n_bytes

        self._alive[address] = weakref.ref(storage, freed)
        self.now += n_bytes
        self.peak = max(self.peak, self.now)


def test_the_peak_of_a_capture_falls_with_the_heads_that_are_kept() -> None:
    lm, n, peaks, kept_bytes = llama_of(8), 600, {}, {}
    attnviz.capture(lm, **text())  # the layers are known
    for kept, keep in (("all", None), ("layer", "L5"), ("head", "L5.H1")):
        gc.collect()
        with Allocated() as allocated:
            cap = attnviz.capture(lm, **text(n), keep=keep)
        cap.verify().require()
        peaks[kept], kept_bytes[kept] = allocated.peak, cap.nbytes
    # q, k and v: 4 heads and twice 2 of 24 numbers in four bytes; of x and more some rows
    in_layer, in_head = n * 8 * 24 * 4, n * 3 * 24 * 4
    assert 8 * in_layer < kept_bytes["all"] and in_head < kept_bytes["head"] < 2 * in_head
    assert peaks["all"] - peaks["head"] > 6 * in_layer
    # nothing else stays of a layer that ran: what it read and wrote is sampled at once
    more = kept_bytes["all"] - kept_bytes["layer"]
    assert peaks["all"] - peaks["layer"] < 1.2 * more
    assert peaks["layer"] - peaks["head"] > in_layer - in_head


def test_inputs_that_the_model_cannot_run_on_are_named_where_heads_are_kept() -> None:
    """The pass that looks for the heads ended in the model's own error."""
    with pytest.raises(BadInput, match="cannot run on the inputs input_idz"):
        attnviz.capture(llama_of(2), inputs={"input_idz": torch.tensor([[3, 4, 5]])}, keep="L1")
