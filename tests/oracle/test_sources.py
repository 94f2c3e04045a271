"""Models from folders and from memory, and every way in which a folder can be unusable."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.errors import AttnVizError, BadInput, ModelNotFound, TooLarge, UnsupportedAttention
from attnviz.models import files
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from tests.support import folders


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bert", "encoder"),
        ("gpt2", "decoder"),
        ("llama", "decoder"),
        ("marian", "encoder-decoder"),
        ("t5", "encoder-decoder"),
        ("vit", "vision"),
    ],
)
def test_a_folder_is_loaded_with_the_class_of_its_config(
    tmp_path: Path, name: str, kind: str
) -> None:
    lm = load(folders.save(tmp_path, name))
    assert lm.kind == kind
    assert type(lm.model) is type(folders.model(name))
    assert (lm.n_layers, lm.n_heads) == (2, 6 if name == "llama" else 3)
    assert lm.key.dtype == "float32" and lm.key.device == "cpu"


def test_a_live_module_is_taken_as_it_is() -> None:
    model = folders.model("gpt2")
    lm = load(model)
    assert lm.model is model
    cap = capture(lm, inputs={"input_ids": torch.tensor([[6, 7, 8]])})
    assert cap.weights(1, 2).shape == (3, 3)
    assert cap.tokens.ids.tolist() == [6, 7, 8]
    with pytest.raises(BadInput, match="takes no text"):
        capture(lm, "the cat")


def keep_away(module: torch.nn.Module, name: str, weight: torch.Tensor) -> None:
    """Keep a parameter on "meta", but for the runs of its module."""

    def bring(module: torch.nn.Module, *_: object) -> None:
        module._parameters[name] = torch.nn.Parameter(weight)

    def take(module: torch.nn.Module, *_: object) -> None:
        module._parameters[name] = torch.nn.Parameter(torch.empty_like(weight, device="meta"))

    module.register_forward_pre_hook(bring)
    module.register_forward_hook(take)
    take(module)


def test_inputs_go_where_an_offloaded_model_computes() -> None:
    """As accelerate keeps it: parameters on "meta" between runs, a hook that brings them."""
    model = folders.model("llama")
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    class Placed:
        execution_device = "cpu"

    model._hf_hook = Placed()
    for prefix, part in model.named_modules():
        for name in [name for name, _ in part.named_parameters(recurse=False)]:
            whole = f"{prefix}.{name}".removeprefix(".")
            keep_away(part, name, weights[whole])
    lm = load(model)
    assert lm.key.device == "cpu"
    cap = capture(lm, inputs={"input_ids": torch.tensor([[6, 7, 8]])})
    cap.verify().require()
    assert set(cap.call(1).projections) == {"q", "k", "v", "out"}
    assert cap.head("L1.H2").w_o is not None


def test_torch_attention_of_ones_own_is_recorded() -> None:
    torch.manual_seed(3)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 20, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=0.5)
    x = torch.randn(2, 5, 16)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    with torch.no_grad(), record(encoder) as calls:
        out = encoder(x, src_key_padding_mask=padding)
    assert [call.module for call in calls] == ["layers.0.self_attn", "layers.1.self_attn"]
    own = encoder.layers[0].self_attn
    with torch.no_grad():
        _, expected = own(
            x, x, x, key_padding_mask=padding, need_weights=True, average_attn_weights=False
        )
    for batch in range(2):
        ours = calls[0].weights(batch=batch)
        torch.testing.assert_close(ours, expected[batch], atol=1e-5, rtol=0)
    assert torch.backends.mha.get_fastpath_enabled()
    with torch.no_grad():
        again = encoder(x, src_key_padding_mask=padding)
    torch.testing.assert_close(out[:, :3], again[:, :3], atol=1e-5, rtol=0)


def no_config(folder: Path) -> None:
    (folder / files.CONFIG).unlink()


def truncated(folder: Path) -> None:
    weights = folder / files.WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-100])


def pickle_only(folder: Path) -> None:
    (folder / files.WEIGHTS).rename(folder / "pytorch_model.bin")


def no_weights(folder: Path) -> None:
    (folder / files.WEIGHTS).unlink()


def unknown_architecture(folder: Path) -> None:
    config = json.loads((folder / files.CONFIG).read_text())
    config["model_type"], config["architectures"] = "hal9000", ["HALModel"]
    (folder / files.CONFIG).write_text(json.dumps(config))


def nan_weights(folder: Path) -> None:
    tensors = load_file(folder / files.WEIGHTS)
    tensors[next(iter(tensors))].flatten()[0] = torch.nan
    save_file(tensors, folder / files.WEIGHTS, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (no_config, "has no config.json"),
        (truncated, "model.safetensors is damaged or cut short"),
        (pickle_only, r"pickled \(pytorch_model.bin\), which can run code"),
        (no_weights, "has no model.safetensors"),
        (unknown_architecture, "hal9000"),
        (nan_weights, "NaN or infinity"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_unusable_folder_is_refused_with_the_reason(
    tmp_path: Path, damage: object, message: str
) -> None:
    folder = folders.save(tmp_path, "bert")
    damage(folder)
    with pytest.raises(ModelNotFound, match=message):
        load(folder)


def test_a_model_over_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folders.save(tmp_path, "bert")
    monkeypatch.setattr(files, "size_mib", lambda _: 9000)
    monkeypatch.setenv(files.LIMIT_VARIABLE, "100")
    with pytest.raises(TooLarge, match="about 9000 MiB and the limit is 100 MiB") as caught:
        load(folder)
    assert (caught.value.found, caught.value.limit, caught.value.unit) == (9000, 100, "MiB")


def test_an_id_that_cannot_be_reached_says_so() -> None:
    with pytest.raises(ModelNotFound, match="nobody/nothing"):
        load("nobody/nothing", local_files_only=True)


@pytest.mark.parametrize("options", [{"dtype": "int8"}, {"device": "abacus"}])
def test_a_device_or_type_that_is_not_there(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="abacus|int8"):
        load(folders.save(tmp_path, "bert"), **options)


def test_half_precision_is_derived_in_float32(tmp_path: Path) -> None:
    folder = folders.save(tmp_path, "bert")
    exact = capture(load(folder), "the cat sat on a mat")
    half = capture(load(folder, dtype="bfloat16"), "the cat sat on a mat")
    assert half.weights(0).dtype == np.float32
    np.testing.assert_allclose(half.weights(0).sum(-1), 1.0, atol=1e-5)
    assert 0 < np.abs(half.weights(0) - exact.weights(0)).max() < 0.05
    half.verify().require()


def test_a_module_without_attention() -> None:
    lm = load(torch.nn.Linear(3, 3))
    with pytest.raises(UnsupportedAttention, match="no attention"):
        capture(lm, inputs={"input": torch.ones(1, 3)})


def test_inputs_on_another_device(tmp_path: Path) -> None:
    lm = load(folders.save(tmp_path, "bert"))
    ids = torch.ones(1, 3, dtype=torch.long, device="meta")
    with pytest.raises(BadInput, match="another device"):
        capture(lm, inputs={"input_ids": ids})
    assert capture(lm, "the cat").n_layers == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "was given nothing"),
        ({"text": "the cat", "image": np.zeros((3, 3), np.uint8)}, "text and image together"),
        ({"text": "the cat", "target": "a dog"}, "only an encoder-decoder takes a target"),
        ({"image": np.zeros((3, 3), np.uint8)}, "takes no picture"),
        ({"text": "the cat", "generate": 3}, "cannot write text"),
    ],
)
def test_what_a_model_cannot_take(
    minilm: LoadedModel, given: dict[str, object], message: str
) -> None:
    with pytest.raises(AttnVizError, match=message):
        capture(minilm, **given)
