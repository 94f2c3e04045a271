"""The plan for texts: one, or several as one padded batch, with a target for a decoder.

In: a model and a request with `text`. Out: a `Plan` with the tokens of each stack.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from attnviz.capture.plan.chat import messages
from attnviz.capture.plan.encoding import encode, id_tokens, padded, padding_id, require_length
from attnviz.capture.plan.plan import Plan
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens


def plan_text(lm: LoadedModel, request: Request, n_patch: int | None = None) -> Plan:
    """The plan for a request's texts, without its pictures.

    `n_patch` is the number of tokens that a picture will have inside the text; `cut` leaves room
    for them. Raises `BadInput` for a model that does not read texts, or not in this way, and
    `TooLarge` for a text that is too long.
    """
    texts, room = list(request.text), lm.max_tokens - (n_patch or 0)
    lm.text_tokenizer()  # raises for a model that reads no text
    _require_stacks_fit(lm, request)
    if request.chat:
        limit = room if request.cut else None
        texts = messages(lm, texts, limit, with_picture=n_patch is not None)
    # a decoder continues at its right end, so padding goes to the left there
    continues = request.generation is not None and lm.kind == "decoder"
    inputs, rows = encode(
        lm,
        texts,
        request.text_pair,
        room=room if request.cut and not request.chat else None,
        side="left" if continues else "right",
        is_message=request.chat,
    )
    inputs = _accepted(lm, inputs)
    if lm.kind != "encoder-decoder":
        return Plan(inputs, {None: rows})
    if not request.target:
        return Plan(inputs, {"encoder": rows})
    decoder_inputs, decoder_rows = _plan_target(lm, request.target, cut=request.cut)
    return Plan(inputs | decoder_inputs, {"encoder": rows, "decoder": decoder_rows})


def _accepted(lm: LoadedModel, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inputs that the model's forward pass has an argument for."""
    if architecture.takes_any_argument(lm.model):
        return inputs
    known = architecture.forward_arguments(lm.model)
    if "input_ids" not in known:
        raise BadInput(
            f"the forward pass of {lm.name} has no argument input_ids, so it takes no text; it has"
            f" {', '.join(known) or 'none'}: give inputs=",
            code="no_tokenizer",
            name=lm.name,
            kind=lm.kind,
        )
    return {name: tensor for name, tensor in inputs.items() if name in known}


def _require_stacks_fit(lm: LoadedModel, request: Request) -> None:
    """Raise `BadInput` for a target without a decoder, and for a decoder without a target."""
    has_decoder = lm.kind == "encoder-decoder"
    if request.target and not has_decoder:
        raise BadInput(
            f"{lm.name} is a {lm.kind} model: only an encoder-decoder takes a target",
            code="no_decoder",
            name=lm.name,
            kind=lm.kind,
        )
    if has_decoder and not request.target and request.generation is None:
        raise BadInput(
            f"{lm.name} is an encoder-decoder: give target=, or generate=N to let it write one",
            code="no_target",
            name=lm.name,
        )


def _plan_target(
    lm: LoadedModel, targets: Sequence[str], *, cut: bool
) -> tuple[dict[str, Tensor], tuple[Tokens, ...]]:
    """The decoder's inputs: the target shifted right behind the start token, as in training."""
    encoded = lm.tokenize(
        text_target=list(targets), truncation=cut, max_length=lm.max_tokens if cut else None
    )
    rows: list[list[int]] = encoded["input_ids"]
    longest = max(map(len, rows))
    require_length(lm, longest)
    start = start_token(lm.model)
    shifted = [[start, *row[:-1]] for row in padded(rows, longest, padding_id(lm), "right")]
    attended = [
        [1, *row[:-1]] for row in padded([[1] * len(row) for row in rows], longest, 0, "right")
    ]
    ids, mask = (torch.tensor(lists).to(lm.key.device) for lists in (shifted, attended))
    inputs = {"decoder_input_ids": ids, "decoder_attention_mask": mask}
    return inputs, id_tokens(lm, ids, mask)


def start_token(model: nn.Module) -> int:
    """The token that a decoder starts from; 0 if neither of its configs names one."""
    for config in (getattr(model, "generation_config", None), model.config):
        for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
            token = getattr(config, name, None)
            if isinstance(token, int):
                return token
    return 0
