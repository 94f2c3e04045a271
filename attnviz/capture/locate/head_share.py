"""The heads of one attention that lies in parts on several processes, put together where it is led.

In: q, k, v and weights·V of the own heads. Out: those of all heads, in the order of the processes,
and the linear layers beside them as they are on all of these. Each process has the columns of W_Q,
W_K, W_V and the rows of W_O that belong to its heads; what a layer reads, and what W_O wrote, is
the same on all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor, nn

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import BroughtLayer, Projection
from attnviz.errors import UnsupportedAttention
from attnviz.models.ranks import AttentionParts, Ranks, is_led, is_part

NOT_IN_COLUMNS = "its layer does not lie on the processes by the columns of its heads"


@dataclass(frozen=True, eq=False)
class HeadShare:
    """An attention as one process computed it, and `inputs` and `output` of all heads.

    `own_inputs` and `own_output` are those of its own heads; `written` has what the layers inside
    the attention wrote, by their names, the columns of all processes side by side.
    """

    own_inputs: AttentionInputs
    own_output: Tensor
    inputs: AttentionInputs
    output: Tensor
    written: Mapping[str, Tensor]
    ranks: Ranks

    @classmethod
    def of(
        cls, module: nn.Module, inputs: AttentionInputs, output: Tensor, parts: AttentionParts
    ) -> "HeadShare":
        """Collect the heads of all processes; each of them must call this.

        Raises `UnsupportedAttention` on all of them if what they hold are not all heads, once.
        """
        n_process, n_heads = parts.ranks.world, inputs.n_heads
        _require_heads(module, n_heads * n_process, inputs.n_kv_heads * n_process)

        def by_head(tensor: Tensor | None) -> Tensor | None:
            if tensor is None or tensor.dim() < 2 or tensor.shape[1] != n_heads or n_heads == 1:
                return tensor
            return parts.collected(tensor, 1)

        sinks = inputs.sinks
        if sinks is not None:
            sinks = parts.collected(sinks, 0) if sinks.dim() == 1 else by_head(sinks)
        whole = replace(
            inputs,
            query=parts.collected(inputs.query, 1),
            key=parts.collected(inputs.key, 1),
            value=parts.collected(inputs.value, 1),
            mask=by_head(inputs.mask),
            bias=by_head(inputs.bias),
            sinks=sinks,
            versions=None,
        )
        written = {
            name: parts.collected(parts.written[name], -1)
            for name in parts.layers_of(module)
            if name in parts.written
        }
        every = parts.collected(output, 2)
        return cls(inputs, output, whole, every, written, parts.ranks)

    def maker(self, projection: Projection) -> Projection | None:
        """A layer that wrote q, k or v, with the columns of all processes; None if not known."""
        written = self.written.get(projection.module)
        if written is None:
            return None
        n_column = projection.output.shape[-1]
        starts = tuple(
            number * n_column + start
            for number in range(written.shape[-1] // n_column)
            for start in projection.starts
        )
        layer = BroughtLayer(partial(self.ranks.weight, projection.module))
        return replace(projection, layer=layer, output=written, starts=starts)

    def reader(self, projection: Projection, row_step: int) -> Projection:
        """W_O, with the rows of all processes."""
        read = self.output[:, ::row_step].flatten(2)
        width = self.output.shape[3]
        starts = tuple(range(0, read.shape[-1], width))
        layer = BroughtLayer(partial(self.ranks.weight, projection.module))
        return replace(projection, layer=layer, input=read, starts=starts)


def put_together(
    share: HeadShare, projections: dict[str, Projection], absent: dict[str, str]
) -> None:
    """Let the layers of one process's heads be those of all; what is not known is absent."""
    for name, projection in list(projections.items()):
        whole = share.maker(projection)
        if whole is None:
            del projections[name]
            absent[name] = NOT_IN_COLUMNS
            if name == "q":
                absent["x"] = NOT_IN_COLUMNS
        else:
            projections[name] = whole


def _require_heads(module: nn.Module, n_heads: int, n_kv_heads: int) -> None:
    config = getattr(module, "config", None)
    declared = getattr(config, "num_attention_heads", None)
    declared_kv = getattr(config, "num_key_value_heads", None) or declared
    if (n_heads, n_kv_heads) != (declared, declared_kv):
        raise UnsupportedAttention(
            f"{type(module).__name__} has {declared} heads and {declared_kv} of keys, and its parts"
            f" on all processes have {n_heads} and {n_kv_heads}: some are there twice; load the"
            ' model in one process, with device_map="auto" where it does not fit on one device',
            code="head_parts",
            module=type(module).__name__,
        )


def require_whole_heads(model: nn.Module, layers: Mapping[str, nn.Module]) -> None:
    """Raise `UnsupportedAttention` for a model whose attention lies in parts on several processes.

    Each would record its own heads as if they were all, under the numbers of others. The weight of
    a layer in parts (torch's DTensor) names its `placements` on a mesh of devices.
    """
    for name, layer in ({} if is_led(model) else layers).items():
        weight = layer._parameters.get("weight")
        if type(weight) is nn.Parameter or not is_part(weight):
            continue
        n_part = weight.device_mesh.size()  # type: ignore[union-attr]  # of a DTensor
        raise UnsupportedAttention(
            f"{type(model).__name__} is spread over {n_part} processes (tensor parallel): this one"
            f" holds only a part of the heads behind {name}; open it by"
            " attnviz.load(…, tensor_parallel=True), or in one process, with"
            ' device_map="auto" where it does not fit on one device',
            code="sharded_heads",
            module=name,
            n_part=n_part,
        )
