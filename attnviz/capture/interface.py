"""The attention function that transformers calls while a model is recorded.

transformers (5.x) looks up the attention function and the mask function of a model under one name.
Both are registered, always: with the attention function alone a model silently gets no mask at all.
Two names exist because models whose classes were not written for torch's fused kernel need float
masks: `attnviz` behaves like "sdpa", `attnviz_eager` hands out the masks of "eager". The forward
pass itself still runs torch's fused kernel. Neither name may contain "sdpa" or "flash":
transformers tests for these words.
"""

from contextvars import ContextVar
from typing import Protocol

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import eager_mask, sdpa_mask

from attnviz.errors import UnsupportedAttention

NAME = "attnviz"
NAME_EAGER = "attnviz_eager"

# arguments that cannot change the result: bookkeeping, or already contained in the mask
HARMLESS = frozenset(
    "output_attentions output_hidden_states output_router_logits position_ids sliding_window"
    " use_cache cache_position past_key_values position_embeddings return_dict"
    " num_items_in_batch logits_to_keep deterministic".split()
)


class Sink(Protocol):
    """Whoever is recording in this thread."""

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
        """Keep one attention call."""


active: ContextVar[Sink | None] = ContextVar("attnviz_active", default=None)


def register() -> None:
    """Make both names known to transformers; harmless when they are known already."""
    AttentionInterface.register(NAME, _like_sdpa)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    AttentionInterface.register(NAME_EAGER, _like_eager)
    AttentionMaskInterface.register(NAME_EAGER, eager_mask)


def name_for(model: PreTrainedModel) -> str:
    """The name whose masks a model was written for."""
    return NAME if model._supports_sdpa else NAME_EAGER


def _like_sdpa(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **kwargs: object,
) -> tuple[Tensor, None]:
    if is_causal is None:
        is_causal = bool(getattr(module, "is_causal", True))
    return _attend(
        module, query, key, value, attention_mask, dropout, scaling, is_causal, kwargs
    ), None


def _like_eager(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **kwargs: object,
) -> tuple[Tensor, None]:
    # under "eager" the mask is always a tensor: no mask means that nothing is blocked
    return _attend(module, query, key, value, attention_mask, dropout, scaling, False, kwargs), None


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    scaling: float | None,
    causal: bool,
    kwargs: dict[str, object],
) -> Tensor:
    refuse_unmodelled(module, kwargs)
    output: Tensor = sdpa_attention_forward(
        module, query, key, value, mask, dropout=dropout, scaling=scaling, is_causal=causal
    )[0]
    sink = active.get()
    if sink is not None:
        causal_flag = causal and mask is None and query.shape[2] > 1
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        sink.take(module, query, key, value, mask, causal_flag, scale, output)
    return output


def refuse_unmodelled(module: nn.Module, kwargs: dict[str, object]) -> None:
    """Raise `UnsupportedAttention` when an argument could change the result unseen."""
    unmodelled = sorted(
        name
        for name, value in kwargs.items()
        if name not in HARMLESS and value is not None and value is not False
    )
    if unmodelled:
        raise UnsupportedAttention(
            f"{type(module).__name__} calls its attention with {', '.join(unmodelled)}, which the"
            " steps do not model; its numbers would be wrong, so nothing was captured",
            code="unmodelled_argument",
            module=type(module).__name__,
            arguments=", ".join(unmodelled),
        )
