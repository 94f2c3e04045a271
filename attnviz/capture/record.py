"""`record`: run a model inside a `with` block and keep every attention call it makes.

In: a transformers model. Out: a list that fills with `AttentionCall` while the block runs and is
complete when it ends. The model is put back as it was, whatever happens inside. One thread records
a model at a time (`LoadedModel.lock`); what other threads run meanwhile is not mixed in, because
the recorder that is active is a context variable.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from transformers import PreTrainedModel

from attnviz import masks
from attnviz.call import AttentionCall
from attnviz.capture.interface import active, name_for, register
from attnviz.capture.projections import LinearWatch
from attnviz.errors import UnsupportedAttention
from attnviz.inputs import AttentionInputs


class Recorder:
    """Builds an `AttentionCall` from each call that the attention function reports."""

    def __init__(self, model: nn.Module) -> None:
        self.calls: list[AttentionCall] = []
        self._names = {id(module): name for name, module in model.named_modules()}
        self._layers: dict[str, int] = {}
        self._linears = LinearWatch(model, is_active=lambda: active.get() is self)

    def close(self) -> None:
        """Take the hooks off the model."""
        self._linears.close()

    def take(
        self,
        module: nn.Module,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        causal: bool,
        scaling: float,
        output: Tensor,
    ) -> None:
        """Keep one attention call; `UnsupportedAttention` for a mask that adds to the scores."""
        name = self._names[id(module)]
        may_attend, bias = masks.from_model(mask)
        if bias is not None:
            raise UnsupportedAttention(
                f"{name} adds a bias to its scores through the mask, which the steps do not model",
                code="unmodelled_argument",
                module=name,
                arguments="attention_mask",
            )
        q, k, v, output = q.detach(), k.detach(), v.detach(), output.detach()
        projections, absent = self._linears.makers(q, k, v)
        self._linears.await_output(output, projections, absent)
        self.calls.append(
            AttentionCall(
                module=name,
                index=sum(call.module == name for call in self.calls),
                layer=self._layers.setdefault(name, len(self._layers)),
                stack=None,
                kind="self",
                inputs=AttentionInputs(q, k, v, may_attend, causal, scaling),
                output=output,
                projections=projections,
                absent=absent,
            )
        )


@contextmanager
def record(model: nn.Module) -> Iterator[list[AttentionCall]]:
    """Record every attention call of `model` while the block runs.

    >>> with attnviz.record(model) as calls:    # doctest: +SKIP
    ...     model(**inputs)
    >>> calls[0].weights().shape                # doctest: +SKIP
    torch.Size([12, 9, 9])

    Raises `UnsupportedAttention` for a module that is not a transformers model, for an argument
    that the steps do not model, and when the block ran without a single attention call.
    """
    if not isinstance(model, PreTrainedModel):
        raise UnsupportedAttention(
            f"{type(model).__name__} is not a transformers model; give one",
            code="not_a_transformer",
            found=type(model).__name__,
        )
    register()
    before = model.config._attn_implementation
    model.set_attn_implementation(name_for(model))
    recorder = Recorder(model)
    token = active.set(recorder)
    try:
        yield recorder.calls
    except BaseException:
        recorder.calls.clear()
        raise
    finally:
        active.reset(token)
        recorder.close()
        model.set_attn_implementation(before)
    if not recorder.calls:
        raise UnsupportedAttention(
            f"{type(model).__name__} ran without one attention call that could be recorded",
            code="no_attention",
            module=type(model).__name__,
        )
