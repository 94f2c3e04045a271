"""`load(device_map=)`: a model whose parts lie in several places, most of them on disk.

accelerate is what transformers spreads models with; it is not needed for anything else.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.errors import BadInput, MissingExtra

N_LAYER = 3
ON_DISK = {
    "model.embed_tokens": "cpu",
    "model.rotary_emb": "cpu",
    "model.layers": "disk",
    "model.norm": "disk",
    "lm_head": "disk",
}
IDS = {"input_ids": torch.arange(11)[None] * 7 + 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of three layers whose weights lie in several files."""
    torch.manual_seed(5)
    config = LlamaConfig(
        vocab_size=97,
        hidden_size=48,
        intermediate_size=80,
        num_hidden_layers=N_LAYER,
        num_attention_heads=6,
        num_key_value_heads=2,
    )
    path = tmp_path_factory.mktemp("spread") / "llama"
    LlamaForCausalLM(config).save_pretrained(path, max_shard_size="50KB")
    return path


@pytest.mark.skipif(find_spec("accelerate") is None, reason="needs accelerate")
@pytest.mark.parametrize("max_memory", [None, {"cpu": "40KB"}])
def test_a_spread_model_is_the_model_in_one_place(
    folder: Path, tmp_path: Path, max_memory: dict[int | str, int | str] | None
) -> None:
    whole = attnviz.load(folder)
    spread = attnviz.load(
        folder,
        device_map=ON_DISK if max_memory is None else "auto",
        max_memory=max_memory,
        offload_folder=tmp_path,
    )
    assert sum(parameter.is_meta for parameter in spread.model.parameters()) > 20
    for changes in ((), (attnviz.ablate("L1.H4", "zero"), attnviz.cut("L2.H0", query=5, key=2))):
        ours = attnviz.capture(spread, inputs=IDS, changes=changes)
        theirs = attnviz.capture(whole, inputs=IDS, changes=changes)
        for layer in range(N_LAYER):
            assert (ours.weights(layer) == theirs.weights(layer)).all()
        assert ours.logits is not None and torch.equal(ours.logits, theirs.logits)
        verification = ours.verify()
        assert verification.ok and not verification.uncovered
    steps, expected = (cap.head("L1.H3") for cap in (ours, theirs))
    for view in expected.views():
        np.testing.assert_allclose(steps[view.stage], view.values, atol=1e-6, err_msg=view.stage)
    runs = [attnviz.experiment(lm, inputs=IDS) for lm in (spread, whole)]
    effects = [run.effects(to="zero") for run in runs]
    assert effects[0].of("L0.H2") == pytest.approx(effects[1].of("L0.H2"), abs=1e-6)


def test_the_places_of_a_model_go_with_a_map(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="max_memory="):
        attnviz.load(folder, max_memory={"cpu": "1GB"})
    with pytest.raises(BadInput, match="offload_folder="):
        attnviz.load(folder, offload_folder="weights")
    with pytest.raises(BadInput, match="device="):
        attnviz.load(folder, device_map="auto", device="cpu")
    with pytest.raises(BadInput, match="device_map="):
        attnviz.load(torch.nn.Linear(2, 3), device_map="auto")
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(MissingExtra, match=r"needs accelerate.*attnviz\[spread\]"):
        attnviz.load(folder, device_map="auto")
