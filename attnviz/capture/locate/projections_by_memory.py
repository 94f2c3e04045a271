"""Find W_Q, W_K, W_V and W_O beside an attention call by the memory that they share.

In most models q is a view of the very storage that W_Q's linear layer wrote, and W_O's layer reads
the very storage that the attention function returned. Names differ between architectures, shared
memory does not, and the strides of the view tell which columns belong to which head, also where
one fused layer makes q, k and v (GPT-2). Where the model works on q after the layer (a rotary
embedding, a constant factor, a key cache), no memory is shared: `turned` compares numbers, and
where these do not agree either the projection is absent, with that reason.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attnviz.attention.projection import Projection, transposed_weight
from attnviz.capture.locate.own_code import IS_ATTENTION
from attnviz.capture.locate.projections_by_value import Guess, Ran, Search, storage_of

# linear layers that ran just before an attention call; more would keep dead tensors alive
RECENT_LAYERS = 8
NOT_A_VIEW = "the model changes this tensor after its linear layer"
NOT_CONSUMED = "no linear layer reads the output of the attention as it is"


@dataclass(frozen=True, eq=False)
class Waiting:
    """What attention returned, for the layer that reads it; every n-th row of that is kept."""

    output: Tensor
    projections: dict[str, Projection]
    absent: dict[str, str]
    row_step: int


class LinearWatch:
    """Forward hooks on a model's linear layers, for as long as the model is recorded."""

    def __init__(self, modules: Mapping[str, nn.Module], is_active: Callable[[], bool]) -> None:
        self._is_active = is_active
        self._recent: deque[Ran] = deque(maxlen=RECENT_LAYERS)
        self._search = Search()
        self._guesses: list[tuple[Guess, dict[str, Projection], dict[str, str]]] = []
        self._waiting: dict[int, Waiting] = {}
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
            ran = Ran(name, module, first.detach(), output.detach())
            self._recent.append(ran)
            if self._waiting:
                self._match_output(ran)

        return seen

    def makers(
        self, q: Tensor, k: Tensor, v: Tensor
    ) -> tuple[dict[str, Projection], dict[str, str]]:
        """The layers that wrote q, k and v, and the reason for each that was not found."""
        tensors = {"q": q, "k": k, "v": v}
        views = {name: self._maker(tensor) for name, tensor in tensors.items()}
        found = {name: view for name, view in views.items() if view is not None}
        rest = {name: tensor for name, tensor in tensors.items() if name not in found}
        guess = None
        if rest:
            makers, guess = self._search.makers(self._recent, rest, q.shape[2])
            found |= {
                name: _projection(maker.layer, maker.starts, maker.turned, maker.factor)
                for name, maker in makers.items()
            }
        absent = {name: NOT_A_VIEW for name in tensors if name not in found}
        if "q" in absent:
            absent["x"] = absent["q"]
        if guess is not None:
            self._guesses.append((guess, found, absent))
        return found, absent

    def settle(self) -> None:
        """Take back what was guessed of the last forward pass and is not so."""
        wrong = {id(guess) for guess in self._search.disproved([of for of, _, _ in self._guesses])}
        for guess, found, absent in self._guesses:
            if id(guess) in wrong:
                for name in guess.names:
                    del found[name]
                    absent[name] = NOT_A_VIEW
                    absent |= {"x": NOT_A_VIEW} if name == "q" else {}
        self._guesses.clear()

    def await_output(
        self,
        output: Tensor,
        projections: dict[str, Projection],
        absent: dict[str, str],
        row_step: int,
    ) -> None:
        """Add the layer that will read `output` to `projections`, as "out", when it runs."""
        absent["projected"] = NOT_CONSUMED
        self._waiting[storage_of(output)] = Waiting(output, projections, absent, row_step)

    def _match_output(self, layer: Ran) -> None:
        into, waiting = layer.into, self._waiting.pop(storage_of(layer.into), None)
        if waiting is None:
            return
        mixed = waiting.output
        width = mixed.shape[2] * mixed.shape[3]
        if into.numel() == mixed.numel() and into.shape[-1] == width and into.is_contiguous():
            found = _projection(layer, tuple(range(0, width, mixed.shape[3])))
            step = waiting.row_step
            waiting.projections["out"] = found.thinned(step) if step > 1 else found
            del waiting.absent["projected"]

    def _maker(self, tensor: Tensor) -> Projection | None:
        storage = storage_of(tensor)
        for layer in reversed(self._recent):
            if layer.storage == storage:
                starts = _head_starts(tensor, layer.output)
                return _projection(layer, starts) if starts else None
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
    step = int(tensor.stride(1))
    fits = 0 <= first and first + (n_heads - 1) * step + width <= d_out
    return tuple(first + head * step for head in range(n_heads)) if aligned and fits else None


def _projection(
    layer: Ran, starts: tuple[int, ...], turned: bool = False, factor: float = 1.0
) -> Projection:
    bias = layer.module.bias
    return Projection(
        module=layer.name,
        weight=transposed_weight(layer.module).detach(),
        bias=bias.detach() if isinstance(bias, Tensor) else None,
        input=layer.into,
        output=layer.output,
        starts=starts,
        turned=turned,
        factor=factor,
    )
