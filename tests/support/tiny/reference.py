"""What a model attends to by its own account: eager attention, run once.

Three independent witnesses: every call of the modeling file's own `eager_attention_forward`, every
attention tensor in the model's public output, and every softmax, `scaled_dot_product_attention` or
torch attention that Python code of an attention module calls besides. None of it uses attnviz.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel
from transformers.utils import ModelOutput

from tests.support.tiny.models import set_seed

EAGER = re.compile(r"eager_attention_forward$")
ATTENTION_CLASS = re.compile(r"att(n|ention)|(^|_)mha", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Seen:
    """One set of weights [batch, head, query, key] and the query rows that count, [batch, query].

    A row counts when it may attend to at least one key and is no padding; padding is what the
    call's own mask hides from every query, or what the inputs' attention masks say.
    """

    module: str
    index: int
    weights: Tensor
    rows: Tensor
    kwargs: tuple[str, ...] = ()


@dataclass(eq=False)
class Reference:
    """Everything the three witnesses saw in one run."""

    calls: list[Seen] = field(default_factory=list)
    public: list[Seen] = field(default_factory=list)
    softmax: list[Seen] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)

    @property
    def has_attention(self) -> bool:
        return bool(self.calls or self.public or self.softmax)


def reference(model: PreTrainedModel, inputs: dict[str, Any]) -> Reference:
    """Run `model` (already eager) on the inputs and keep what the witnesses see."""
    seen = Reference()
    watch = Watch(model, seen, inputs)
    with torch.no_grad(), watch.watching():
        set_seed()
        output = run_with_attentions(model, inputs)
    for path, tensor in attention_tensors(output):
        rows = watch.rows_of(tensor) if tensor.dim() == 4 else torch.empty(0)
        if tensor.dim() >= 3:
            seen.public.append(Seen(path, 0, tensor, rows))
    seen.outputs = main_outputs(output)
    return seen


def run_with_attentions(model: PreTrainedModel, inputs: dict[str, Any]) -> Any:
    """The model's output, with attentions where it can give them."""
    try:
        return model(**inputs, output_attentions=True)
    except Exception:  # it cannot give them, or cannot run at all: the plain run says which
        set_seed()
        return model(**inputs)


def attention_tensors(output: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """(path, tensor) of everything under a key that names attentions."""
    if isinstance(output, ModelOutput):
        for key, value in output.items():
            if "attention" in key:
                yield from _tensors(value, f"{path}{key}")
            elif isinstance(value, ModelOutput):
                yield from attention_tensors(value, f"{path}{key}.")


def _tensors(value: Any, path: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor) and value.is_floating_point():
        yield path, value.detach().clone()
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _tensors(item, f"{path}[{number}]")


def main_outputs(output: Any) -> list[Tensor]:
    """The floating tensors at the top of the output, attentions and hidden states left out."""
    if isinstance(output, ModelOutput):
        named = [(key, value) for key, value in output.items() if isinstance(value, Tensor)]
        return [value for key, value in named if value.is_floating_point() and "atten" not in key]
    given = output if isinstance(output, tuple) else (output,)
    return [value for value in given if _is_float(value)]


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


class Watch:
    """Follows which module runs, and keeps what its attention computes."""

    def __init__(self, model: nn.Module, seen: Reference, inputs: dict[str, Any]) -> None:
        self.model, self.seen = model, seen
        self.masks = [
            value.bool()
            for name, value in inputs.items()
            if name.endswith("attention_mask") and isinstance(value, Tensor) and value.dim() == 2
        ]
        self.names = {id(module): name for name, module in model.named_modules()}
        self.running: list[nn.Module] = []
        self.in_eager = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Eager functions replaced, softmax watched, torch's fast path off."""
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        before = nn.modules.module.register_module_forward_pre_hook(self._enter)
        after = nn.modules.module.register_module_forward_hook(self._leave, always_call=True)
        replaced = list(self._replace_eager())
        try:
            with SoftmaxWatch(self):
                yield
        finally:
            for module, name, original in replaced:
                setattr(module, name, original)
            before.remove()
            after.remove()
            torch.backends.mha.set_fastpath_enabled(fast)

    def _enter(self, module: nn.Module, _args: Any) -> None:
        self.running.append(module)

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        self.running.pop()

    def _replace_eager(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        files = {sys.modules[type(module).__module__] for module in self.model.modules()}
        for file in files:
            if not file.__name__.startswith("transformers."):
                continue
            for name, value in list(vars(file).items()):
                if EAGER.search(name) and callable(value):
                    setattr(file, name, self._keeping(value))
                    yield file, name, value

    def _keeping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def keep(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            self.in_eager += 1
            try:
                output = original(module, *args, **kwargs)
            finally:
                self.in_eager -= 1
            mask = args[3] if len(args) > 3 else kwargs.get("attention_mask")
            if isinstance(mask, Tensor) and mask.dim() != 4:
                raise ValueError("these inputs give the attention a mask that is not 4-D")
            used = tuple(sorted(name for name, value in kwargs.items() if value is not None))
            if isinstance(output[1], Tensor) and output[1].dim() == 4:
                self.keep(self.seen.calls, module, output[1], mask, used)
            return output

        return keep

    def keep(
        self,
        kept: list[Seen],
        module: nn.Module,
        weights: Tensor,
        mask: Tensor | None,
        kwargs: tuple[str, ...] = (),
    ) -> None:
        """Add one set of weights under the module's name."""
        name = self.names.get(id(module), type(module).__name__)
        index = sum(one.module == name for one in kept)
        rows = self.real_rows(weights) if weights.dim() == 4 else torch.empty(0)
        if isinstance(mask, Tensor) and mask.dim() == 4:
            rows = rows & visible_rows(mask, weights)
        kept.append(Seen(name, index, weights.detach().clone(), rows, kwargs))

    def rows_of(self, weights: Tensor) -> Tensor:
        """The rows that count in a public tensor: those of the eager call that it came from."""
        for call in self.seen.calls:
            if call.weights.shape == weights.shape and torch.equal(call.weights, weights):
                return call.rows
        return self.real_rows(weights)

    def real_rows(self, weights: Tensor) -> Tensor:
        """True for the rows that the inputs' attention masks call real, [batch, query]."""
        for mask in self.masks:
            if mask.shape == (weights.shape[0], weights.shape[2]):
                return mask
        return torch.ones(weights.shape[0], weights.shape[2], dtype=torch.bool)


def visible_rows(mask: Tensor, weights: Tensor) -> Tensor:
    """True for the rows that may attend to a key and are not hidden as keys from every row."""
    n_batch, n_query, n_key = weights.shape[0], weights.shape[2], weights.shape[3]
    if mask.shape[-1] < n_key or mask.shape[0] not in (1, n_batch):
        return torch.ones(n_batch, n_query, dtype=torch.bool)
    mask = mask[..., :n_key]
    allowed = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    allowed = allowed.any(1).expand(n_batch, -1, -1)
    rows = allowed.any(-1).expand(n_batch, n_query)
    if n_query == n_key and allowed.shape[1] == n_query:
        rows = rows & allowed.any(1)
    return rows


class SoftmaxWatch(TorchFunctionMode):
    """Keeps the weights of attention that Python code computes without an eager function."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(
        self, func: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        module = self.watch.running[-1] if self.watch.running else None
        if module is None or self.watch.in_eager:
            return func(*args, **kwargs)
        if func is F.multi_head_attention_forward:
            return self._torch_attention(module, args, kwargs)
        if func is F.scaled_dot_product_attention:
            self._keep(module, fused_weights(*args, **kwargs))
            return func(*args, **kwargs)
        output = func(*args, **kwargs)
        if func in SOFTMAX and self._is_attention(output, args, kwargs):
            self._keep(module, output)
        return output

    def _is_attention(self, output: Tensor, args: tuple[Any, ...], kwargs: Any) -> bool:
        names = [type(one).__name__ for one in self.watch.running[-2:]]
        dim = kwargs.get("dim", args[1] if len(args) > 1 else -1)
        shaped = output.dim() >= 3 and dim in (-1, output.dim() - 1) and min(output.shape[-2:]) > 1
        return shaped and any(ATTENTION_CLASS.search(name) for name in names)

    def _keep(self, module: nn.Module, weights: Tensor) -> None:
        if weights.dim() >= 3:
            self.watch.keep(self.watch.seen.softmax, module, weights, None)

    def _torch_attention(self, module: nn.Module, args: tuple[Any, ...], kwargs: Any) -> Any:
        wanted = kwargs.get("need_weights", True), kwargs.get("average_attn_weights", True)
        told = kwargs | {"need_weights": True, "average_attn_weights": False}
        output, weights = F.multi_head_attention_forward(*args, **told)
        self._keep(module, weights)
        if not wanted[0]:
            return output, None
        return output, weights.mean(weights.dim() - 3) if wanted[1] else weights


SOFTMAX = {F.softmax, torch.softmax, Tensor.softmax, torch.special.softmax}


def fused_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(q·kᵀ·scale + mask), written out."""
    if key.shape[-3] != query.shape[-3]:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not()
        scores = scores.masked_fill(hidden, -torch.inf)
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        else:
            scores = scores + attn_mask
    return torch.nan_to_num(torch.softmax(scores, -1))
