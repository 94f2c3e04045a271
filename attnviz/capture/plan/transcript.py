"""The tokens that a speech model's decoder reads: a transcript that was typed, then its own.

In: a model with a decoder and a request. Out: the start token and the target as the model's
tokenizer prepares it, continued by as many tokens as were asked for, each the likeliest after those
before it.
"""

from typing import Any

import torch
from torch import Tensor

from attnviz.capture.plan.encoding import NOWHERE, require_length, token_rows
from attnviz.capture.plan.text import start_token
from attnviz.capture.request import Request
from attnviz.errors import BadInput, TooLarge
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens


def prompt(lm: LoadedModel, request: Request) -> Tokens:
    """The start token with the target of the request behind it, if there is one.

    Raises `TooLarge` for a target that is longer than the decoder takes.
    """
    if not request.target:
        return _tokens(lm, "", [start_token(lm.model)], [NOWHERE])
    tokens = _prepared(lm, request.target[0], cut=request.cut)
    require_length(lm, len(tokens), longest(lm))
    return tokens


def continued(
    lm: LoadedModel, inputs: dict[str, Tensor], tokens: Tokens, n: int
) -> tuple[Tensor, Tokens]:
    """Ids [batch, token] of these tokens and up to `n` more; the end token is not read again.

    Raises `BadInput` for a model without a language-model head, and `TooLarge` for more tokens than
    the decoder has positions for.
    """
    ids = torch.from_numpy(tokens.ids)[None].to(lm.key.device)
    if not n:
        return ids, tokens
    _require_room(lm, len(tokens), n)
    model: Any = lm.model
    with lm.lock, torch.no_grad():
        encoded, cache, read = model.get_encoder()(**inputs), None, ids
        for _ in range(n):
            state = {"encoder_outputs": encoded, "past_key_values": cache, "use_cache": True}
            out = model(decoder_input_ids=read, **state)
            if "logits" not in out:
                raise BadInput(
                    f"{lm.name} cannot write text: it has no language-model head",
                    code="cannot_generate",
                    name=lm.name,
                )
            following = out["logits"][:, -1:].argmax(-1)
            if int(following) in _end_tokens(lm):
                break
            ids = torch.cat([ids, following], dim=1)
            cache = out.get("past_key_values")
            read = ids if cache is None else following
    written = ids[0].tolist()
    offsets = [*tokens.offsets, *[NOWHERE] * (len(written) - len(tokens))]
    return ids, _tokens(lm, tokens.text, written, offsets)


def longest(lm: LoadedModel) -> int:
    """The largest number of tokens that the decoder reads."""
    config: Any = lm.model.config
    return min(lm.max_tokens, getattr(config, "max_target_positions", lm.max_tokens))


def _prepared(lm: LoadedModel, target: str, *, cut: bool) -> Tokens:
    """The target behind the start token, as the tokenizer prepares it, without its end token.

    A target that begins with a special token was typed with all that it needs (language and task,
    for instance): nothing is added to it then.
    """
    tokenizer = lm.text_tokenizer()
    encoded = lm.tokenize([target], add_special_tokens=False, verbose=False)
    typed = encoded["input_ids"][0]
    if not typed or typed[0] not in tokenizer.all_special_ids:
        encoded = lm.tokenize(text_target=[target], verbose=False)
    (row,) = token_rows(lm, encoded, [target])
    start = start_token(lm.model)
    ids, offsets = list(row.ids), list(row.offsets)
    if ids[:1] != [start]:  # some tokenizers put it there themselves
        ids, offsets = [start, *ids], [NOWHERE, *offsets]
    ends = {*_end_tokens(lm), tokenizer.eos_token_id}
    stop = len(ids) - (ids[-1] in ends and len(ids) > 1)
    stop = min(stop, longest(lm)) if cut else stop
    return _tokens(lm, target, ids[:stop], offsets[:stop])


def _tokens(lm: LoadedModel, text: str, ids: list[int], offsets: list[tuple[int, int]]) -> Tokens:
    special = set() if lm.tokenizer is None else set(lm.tokenizer.all_special_ids)
    return lm.tokens(
        text=text,
        ids=ids,
        offsets=offsets,
        special=[int(token in special) for token in ids],
        attended=[1] * len(ids),
    )


def _end_tokens(lm: LoadedModel) -> list[int]:
    """The tokens that end what the model writes."""
    model: Any = lm.model
    config = getattr(model, "generation_config", None) or model.config
    ends = config.eos_token_id
    return ends if isinstance(ends, list) else [ends]


def _require_room(lm: LoadedModel, n_prompt: int, n: int) -> None:
    limit = longest(lm)
    if n_prompt + n > limit:
        raise TooLarge(
            f"{n_prompt} tokens and {n} more do not fit into the {limit} that {lm.name} takes",
            code="no_room_to_write",
            found=n_prompt + n,
            limit=limit,
            unit="tokens",
        )
