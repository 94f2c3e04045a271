"""Attention with adapted, quantised, spread or unusual linear layers: exact, or absent by name."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.projection import WrittenLayer
from attnviz.attention.steps import derive
from attnviz.capture.record.recorder import record
from attnviz.errors import UnsupportedAttention
from tests.support import folders
from tests.support.adapted_layers import KINDS, Attention, D, replaced

LAYERS = {"q": "q", "k": "k", "v": "v", "projected": "o"}


def recorded(model: Attention) -> tuple[AttentionCall, dict[str, Tensor]]:
    """The call of one run, and what each of the module's layers returned to it."""
    wrote: dict[str, Tensor] = {}
    handles = [
        getattr(model, name).register_forward_hook(
            lambda _module, _args, output, name=name: wrote.update({name: output.clone()})
        )
        for name in ("q", "k", "v", "o")
    ]
    x = torch.randn(2, 5, D, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        model(x)
    for handle in handles:
        handle.remove()
    with torch.no_grad(), record(model) as calls:
        model(x)
    (call,) = calls
    return call, wrote


@pytest.mark.some(17)
@pytest.mark.parametrize("names", [("o",), ("q", "k", "v"), ()], ids=["o", "qkv", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_an_adapted_layer_are_what_the_module_writes_or_absent(
    kind: str, names: tuple[str, ...]
) -> None:
    call, wrote = recorded(replaced(KINDS[kind], *names))
    assert call.verify().ok
    steps = derive(call, 1)
    for stage, layer in LAYERS.items():
        name = "out" if stage == "projected" else stage
        if name not in call.projections:
            assert call.absent[stage]
            continue
        rows = call.projections[name].output
        torch.testing.assert_close(rows, wrote[layer])
        assert steps.comparisons[stage].ok
    if steps.projected is not None:
        torch.testing.assert_close(steps.projected, wrote["o"][0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("rounding", "dora")])
def test_every_kind_that_is_a_matrix_has_every_stage(kind: str) -> None:
    model = replaced(KINDS[kind])
    call, _ = recorded(model)
    assert set(call.projections) == {"q", "k", "v", "out"} and not call.absent
    steps = derive(call, 2)
    units = torch.eye(D)[None]
    with torch.no_grad():
        w_o = (model.o(units) - model.o(torch.zeros_like(units)))[0]
    assert steps.w_o is not None
    close = {"atol": 2e-2, "rtol": 0} if kind == "lora_bfloat16" else {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(steps.w_o, w_o[steps.head_columns], **close)


def test_dora_in_code_of_ones_own_has_q_k_v() -> None:
    """Its W_O multiplies by a matrix made of others, so that nothing shows the heads in time."""
    call, _ = recorded(replaced(KINDS["dora"]))
    assert set(call.projections) == {"q", "k", "v"} and list(call.absent) == ["projected"]


def test_a_layer_that_rounds_what_it_reads_is_named_with_its_class() -> None:
    call, _ = recorded(replaced(KINDS["rounding"]))
    assert not call.projections
    assert "this layer (Rounding) is no input·W + b" in call.absent["projected"]


@pytest.mark.parametrize("kind", ["plain", "named", "sequential", "weight_norm", "own_forward"])
def test_a_layer_that_is_what_it_shows_is_not_called_again(kind: str) -> None:
    call, _ = recorded(replaced(KINDS[kind]))
    assert all(isinstance(layer.layer, WrittenLayer) for layer in call.projections.values())


def test_an_adapter_that_is_changed_after_the_capture_fails_the_check() -> None:
    model = replaced(KINDS["lora"])
    call, _ = recorded(model)
    with torch.no_grad():
        model.o.lora_b.weight.mul_(2)
    assert not call.verify().ok


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "kind", ["lora", "dora", "packed", "packed_linear", "scaled", "hook_behind"]
)
def test_what_heads_write_directly_is_that_of_the_merged_model(kind: str) -> None:
    adapted, merged = folders.model("llama"), folders.model("llama")
    merged.load_state_dict(adapted.state_dict())
    for layer, plain in zip(adapted.model.layers, merged.model.layers, strict=True):
        made = KINDS[kind](layer.self_attn.o_proj).eval()
        layer.self_attn.o_proj = made
        with torch.no_grad():
            units = torch.eye(plain.self_attn.o_proj.in_features)
            plain.self_attn.o_proj.weight.copy_(made(units[None])[0].T)
    inputs = {"input_ids": [[6, 7, 8, 9, 10]]}
    on = attnviz.NextToken(7, against=4)
    found, expected = (
        attnviz.experiment(attnviz.load(model), on=on, inputs=inputs).direct()
        for model in (adapted, merged)
    )
    assert found.ok and expected.ok
    heads = {str(c.site): v for c, v in zip(found.components, found.values, strict=True) if c.site}
    wanted = {
        str(c.site): v for c, v in zip(expected.components, expected.values, strict=True) if c.site
    }
    assert heads.keys() == wanted.keys() and len(heads) == 12
    for name, value in wanted.items():
        assert heads[name] == pytest.approx(value, abs=1e-5)


def test_two_layers_that_read_the_output_are_named() -> None:
    class Parallel(Attention):
        def __init__(self) -> None:
            super().__init__()
            self.lora = nn.Linear(D, D)

        def forward(self, x: Tensor) -> Tensor:
            kept: list[Tensor] = []
            handle = self.o.register_forward_pre_hook(lambda _, args: kept.append(args[0]))
            result = super().forward(x)
            handle.remove()
            return result + self.lora(kept[0])

    call, _ = recorded(Parallel().eval())
    assert "out" not in call.projections
    assert call.absent["projected"] == "several layers read the output of the attention: o and lora"


def test_a_weight_that_is_brought_for_each_run_is_found_by_calling() -> None:
    model = replaced(KINDS["plain"])
    weight = model.o.weight.detach().clone()
    model.o.weight = nn.Parameter(torch.empty_like(weight, device="meta"))

    def brought(module: nn.Module, _args: object) -> None:
        module.weight = nn.Parameter(weight)

    def taken(module: nn.Module, _args: object, _output: object) -> None:
        module.weight = nn.Parameter(torch.empty_like(weight, device="meta"))

    model.o.register_forward_pre_hook(brought)
    model.o.register_forward_hook(taken)
    call, wrote = recorded(model)
    assert call.verify().ok
    steps = derive(call, 0)
    assert steps.projected is not None and steps.w_o is not None
    torch.testing.assert_close(steps.projected, wrote["o"][0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(steps.w_o, weight.T[steps.head_columns], atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["sparse", "jagged"])
def test_a_tensor_without_memory_stops_nothing(kind: str) -> None:
    class WithGraph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(D, 3, batch_first=True)
            if kind == "sparse":
                self.register_buffer("adjacency", torch.eye(5).to_sparse())

        def forward(self, x: Tensor) -> Tensor:
            if kind == "sparse":
                x = torch.stack([self.adjacency @ text for text in x])
            else:
                rows = torch.nested.nested_tensor([x[0], x[1, :3]], layout=torch.jagged)
                x = (rows * 1.0).to_padded_tensor(0.0)
            result: Tensor = self.attention(x, x, x)[0]
            return result

    model = WithGraph().eval()
    with torch.no_grad(), record(model) as calls:
        model(torch.randn(2, 5, D))
    assert [call.module for call in calls] == ["attention"] and calls[0].verify().ok


@pytest.fixture
def two_ranks() -> Iterator[None]:
    torch.distributed.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("two_ranks")
def test_heads_that_lie_on_several_processes_are_refused_by_name() -> None:
    mesh = init_device_mesh("cpu", (2,))
    model = nn.Sequential(replaced(KINDS["plain"]))
    part = distribute_tensor(model[0].o.weight.detach(), mesh, [Shard(1)])
    model[0].o.weight = nn.Parameter(part)
    with pytest.raises(UnsupportedAttention, match="over 2 processes .* behind 0.o") as caught:
        with attnviz.record(model):
            pass
    assert caught.value.code == "sharded_heads"
