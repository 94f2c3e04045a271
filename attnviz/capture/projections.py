"""Find W_Q, W_K, W_V and W_O beside an attention call by the memory that they share.

In most models q is a view of the very storage that W_Q's linear layer wrote, and W_O's layer reads
the very storage that the attention function returned. Names differ between architectures, shared
memory does not, and the strides of the view tell which columns belong to which head, also where
one fused layer makes q, k and v (GPT-2). Where the model works on q after the layer (a rotary
embedding, a key cache), no memory is shared and the projection is absent, with that reason.
"""

from collections import deque
from collections.abc import Callable, Mapping

from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attnviz.call import Projection, transposed_weight
from attnviz.capture.own_code import IS_ATTENTION

# linear layers that ran just before an attention call; more would keep dead tensors alive
RECENT_LAYERS = 8
NOT_A_VIEW = "the model changes this tensor after its linear layer"
NOT_CONSUMED = "no linear layer reads the output of the attention as it is"


class LinearWatch:
    """Forward hooks on a model's linear layers, for as long as the model is recorded."""

    def __init__(self, modules: Mapping[str, nn.Module], is_active: Callable[[], bool]) -> None:
        self._is_active = is_active
        self._recent: deque[tuple[str, nn.Module, Tensor, Tensor]] = deque(maxlen=RECENT_LAYERS)
        self._waiting: dict[int, tuple[Tensor, dict[str, Projection], dict[str, str]]] = {}
        self._handles = [
            module.register_forward_hook(self._hook(name))
            for name, module in _layers_in_attention(modules).items()
        ]

    def close(self) -> None:
        """Remove the hooks and drop what was kept for later."""
        for handle in self._handles:
            handle.remove()
        self._recent.clear()
        self._waiting.clear()

    def _hook(self, name: str) -> Callable[[nn.Module, tuple[object, ...], object], None]:
        def seen(module: nn.Module, args: tuple[object, ...], output: object) -> None:
            first = args[0] if args else None
            if not isinstance(first, Tensor) or not isinstance(output, Tensor):
                return  # a router, for instance, extends a linear layer and returns more
            if not self._is_active() or first.dim() != 3:
                return
            into = first.detach()
            self._recent.append((name, module, into, output.detach()))
            self._match_output(name, module, into, output.detach())

        return seen

    def makers(
        self, q: Tensor, k: Tensor, v: Tensor
    ) -> tuple[dict[str, Projection], dict[str, str]]:
        """The layers that wrote q, k and v, and the reason for each that was not found."""
        found: dict[str, Projection] = {}
        absent: dict[str, str] = {}
        for name, tensor in (("q", q), ("k", k), ("v", v)):
            projection = self._maker(tensor)
            if projection is None:
                absent[name] = NOT_A_VIEW
            else:
                found[name] = projection
        if "q" in absent:
            absent["x"] = absent["q"]
        return found, absent

    def await_output(
        self, output: Tensor, projections: dict[str, Projection], absent: dict[str, str]
    ) -> None:
        """Add the layer that will read `output` to `projections`, as "out", when it runs."""
        absent["projected"] = NOT_CONSUMED
        self._waiting[output.untyped_storage().data_ptr()] = (output, projections, absent)

    def _match_output(self, name: str, module: nn.Module, into: Tensor, output: Tensor) -> None:
        waiting = self._waiting.pop(into.untyped_storage().data_ptr(), None)
        if waiting is None:
            return
        mixed, projections, absent = waiting
        width = mixed.shape[2] * mixed.shape[3]
        if into.numel() == mixed.numel() and into.shape[-1] == width and into.is_contiguous():
            starts = tuple(range(0, width, mixed.shape[3]))
            projections["out"] = _projection(name, module, into, output, starts)
            del absent["projected"]

    def _maker(self, tensor: Tensor) -> Projection | None:
        storage = tensor.untyped_storage().data_ptr()
        for name, module, into, output in reversed(self._recent):
            if output.untyped_storage().data_ptr() == storage:
                starts = _head_starts(tensor, output)
                return _projection(name, module, into, output, starts) if starts else None
        return None


def _layers_in_attention(modules: Mapping[str, nn.Module]) -> dict[str, nn.Module]:
    """The linear layers inside modules named after attention; all of them where there are none.

    To watch the others too would keep their large outputs alive for nothing.
    """
    linear: dict[str, nn.Module] = {
        name: of for name, of in modules.items() if isinstance(of, nn.Linear | Conv1D)
    }
    within = tuple(
        f"{name}." for name, of in modules.items() if IS_ATTENTION.search(type(of).__name__)
    )
    return {name: of for name, of in linear.items() if name.startswith(within)} or linear


def _head_starts(tensor: Tensor, output: Tensor) -> tuple[int, ...] | None:
    """The first column of each head of `tensor` [batch, head, token, d_head] within `output`.

    None unless `tensor` is a plain view: row t of a head is row t of `output`, columns adjacent.
    """
    n_batch, n_heads, n_token, width = tensor.shape
    d_out = output.shape[-1]
    aligned = (
        output.is_contiguous()
        and output.shape[:2] == (n_batch, n_token)
        and tensor.stride(3) == 1
        and (n_token == 1 or tensor.stride(2) == d_out)
        and (n_batch == 1 or tensor.stride(0) == n_token * d_out)
    )
    first = int(tensor.storage_offset() - output.storage_offset())
    starts = tuple(first + head * int(tensor.stride(1)) for head in range(n_heads))
    fits = all(0 <= start and start + width <= d_out for start in starts)
    return starts if aligned and fits else None


def _projection(
    name: str, module: nn.Module, into: Tensor, output: Tensor, starts: tuple[int, ...]
) -> Projection:
    bias = module.bias
    return Projection(
        module=name,
        weight=transposed_weight(module).detach(),
        bias=bias.detach() if isinstance(bias, Tensor) else None,
        input=into,
        output=output,
        starts=starts,
    )
