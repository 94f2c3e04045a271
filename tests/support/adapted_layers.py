"""Linear layers as adapters and quantisers write them, in an attention that is otherwise plain.

In: a name of `KINDS`. Out: an `Attention` whose layers were replaced so. No library is needed: each
class has the shape of one that is in use, and the truth is what the module itself returns.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

D, H = 12, 3
DH = D // H


class Attention(nn.Module):
    """Self-attention of three heads."""

    def __init__(self) -> None:
        super().__init__()
        self.num_heads = H
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        """What the heads add to x."""
        q, k, v = (layer(x).unflatten(-1, (H, DH)).mT for layer in (self.q, self.k, self.v))
        q, k, v = (part.transpose(-1, -3).transpose(-1, -2) for part in (q, k, v))
        weights = (q @ k.mT / DH**0.5).softmax(-1)
        result: Tensor = self.o((weights @ v).transpose(1, 2).flatten(2))
        return result


class LoRA(nn.Module):
    """A layer and a product of two narrow ones (peft's lora.Linear)."""

    def __init__(self, base_layer: nn.Module, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.base_layer = base_layer
        sizes = (base_layer.in_features, 2), (2, base_layer.out_features)
        self.lora_a, self.lora_b = (nn.Linear(*size, bias=False, dtype=dtype) for size in sizes)

    def forward(self, x: Tensor, *_: Any) -> Tensor:
        low: Tensor = self.lora_b(self.lora_a(x.to(self.lora_a.weight.dtype)))
        result: Tensor = self.base_layer(x)
        return result + 2.0 * low.to(result.dtype)


class DoRA(LoRA):
    """A low-rank change of the direction of each column of W (peft's DoRA)."""

    def __init__(self, base_layer: nn.Linear) -> None:
        super().__init__(base_layer)
        self.magnitude = nn.Parameter(base_layer.weight.detach().norm(dim=1) * 1.5)

    def forward(self, x: Tensor, *_: Any) -> Tensor:
        weight = self.base_layer.weight + self.lora_b.weight @ self.lora_a.weight
        share = self.magnitude / weight.norm(dim=1)
        result = (x @ weight.T) * share
        return result if self.base_layer.bias is None else result + self.base_layer.bias


class Packed(nn.Module):
    """Whole numbers of eight bits with a scale for each row (GPTQ and AWQ have such classes)."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = layer.in_features, layer.out_features
        scale = layer.weight.detach().abs().amax(1, keepdim=True) / 127
        self.register_buffer("packed", (layer.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = layer.bias

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.packed.float() * self.scale, self.bias)


class PackedLinear(nn.Linear):
    """The same as an `nn.Linear` (bitsandbytes extends that class)."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer.in_features, layer.out_features)
        self.unpacked = Packed(layer)
        self.bias = layer.bias
        packed = self.unpacked.packed.reshape(-1, 1)
        self.weight = nn.Parameter(packed, requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.unpacked(x)
        return result


class EightBit(Tensor):
    """A weight that is a tensor made of others and knows only one operation (torchao, quanto)."""

    packed: Tensor

    @staticmethod
    def __new__(cls, packed: Tensor) -> "EightBit":
        made: EightBit = Tensor._make_wrapper_subclass(cls, packed.shape, dtype=torch.float32)
        made.packed = packed
        return made

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["packed"], None

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        if func is nn.functional.linear:
            x, weight, bias = (*args, *(kwargs or {}).values())
            return x @ (weight.packed.float() / 127).T + bias
        return super().__torch_function__(func, types, args, kwargs)

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        if func is torch.ops.aten.detach.default:
            return cls(args[0].packed)
        raise NotImplementedError(f"EightBit dispatch: {func}")


class Scaled(nn.Linear):
    """A layer that multiplies what it writes."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * 1.7


class Rounding(nn.Linear):
    """A layer that rounds what it reads (dynamic quantisation of activations)."""

    def forward(self, x: Tensor) -> Tensor:
        step = x.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 7
        return super().forward((x / step).round() * step)


class Named(nn.Linear):
    """A layer of another class that does the same."""


class Halved(nn.Module):
    """A parametrisation."""

    def forward(self, weight: Tensor) -> Tensor:
        return weight * 0.5


def replaced(make: Callable[[nn.Linear], nn.Module], *names: str) -> Attention:
    """An attention with some of its layers replaced."""
    torch.manual_seed(3)
    attention = Attention()
    for name in names or ("q", "k", "v", "o"):
        setattr(attention, name, make(getattr(attention, name)))
    return attention.eval()


def as_class(cls: type[nn.Linear]) -> Callable[[nn.Linear], nn.Module]:
    """Makes a layer of another class with the weight of a plain one."""

    def make(layer: nn.Linear) -> nn.Module:
        made = cls(layer.in_features, layer.out_features, bias=layer.bias is not None)
        made.load_state_dict(layer.state_dict())
        return made

    return make


def with_eight_bits(layer: nn.Linear) -> nn.Module:
    """A plain layer with a weight that is no plain tensor."""
    packed = (layer.weight.detach() * 127).round().to(torch.int8)
    layer.weight = nn.Parameter(EightBit(packed), requires_grad=False)
    return layer


def with_weight_norm(layer: nn.Linear) -> nn.Module:
    made: nn.Module = parametrizations.weight_norm(layer)
    return made


def with_parametrisation(layer: nn.Linear) -> nn.Module:
    made: nn.Module = parametrize.register_parametrization(layer, "weight", Halved())
    return made


def with_hook_behind(layer: nn.Linear) -> nn.Module:
    layer.register_forward_hook(lambda _module, _args, output: output * 0.5)
    return layer


def with_hook_that_looks(layer: nn.Linear) -> nn.Module:
    layer.register_forward_hook(lambda _module, _args, _output: None)
    return layer


def with_forward_of_its_own(layer: nn.Linear) -> nn.Module:
    """As accelerate replaces the method of each module that it moves."""
    own = layer.forward
    layer.forward = lambda x: own(x)  # type: ignore[method-assign]
    return layer


Make = Callable[[nn.Linear], nn.Module]
KINDS: dict[str, Make] = {
    "plain": lambda layer: layer,
    "lora": LoRA,
    "lora_bfloat16": lambda layer: LoRA(layer, torch.bfloat16),
    "dora": DoRA,
    "packed": Packed,
    "packed_linear": PackedLinear,
    "lora_of_packed": lambda layer: LoRA(PackedLinear(layer)),
    "eight_bit": with_eight_bits,
    "scaled": as_class(Scaled),
    "rounding": as_class(Rounding),
    "named": as_class(Named),
    "sequential": lambda layer: nn.Sequential(layer, nn.Dropout(0.1)),
    "weight_norm": with_weight_norm,
    "parametrisation": with_parametrisation,
    "hook_behind": with_hook_behind,
    "hook_that_looks": with_hook_that_looks,
    "own_forward": with_forward_of_its_own,
}
