"""What a decoder is to have written of a sound: a target that was typed, then tokens of its own.

In: a model that listens, a target or none. Out: the tokens that its decoder reads: its start token
and the target as the model's tokenizer prepares it, and as many more as it is asked to add, each
the likeliest after those before.
"""

from typing import Any

import torch
from torch import Tensor

from attnviz.capture.plan.text import as_texts, require_length, start_token, text_tokens
from attnviz.errors import BadInput, TooLarge
from attnviz.models.loaded import LoadedModel
from attnviz.types import Tokens


def given(lm: LoadedModel, target: object, *, cut: bool) -> Tokens | None:
    """The start token with the target behind it; None for a model without a decoder."""
    if not getattr(getattr(lm.model, "config", None), "is_encoder_decoder", False):
        if target is not None:
            raise BadInput(
                f"{lm.name} hears and does not write: only a model with a decoder takes a target",
                code="only_hears",
                name=lm.name,
            )
        return None
    if target is None:
        return _tokens(lm, "", [start_token(lm.model)], [(0, 0)])
    texts = as_texts(target, "target")
    if len(texts) != 1:
        raise BadInput(
            f"target has {len(texts)} entries; give one with one sound",
            code="pair_count",
            name="target",
            texts=1,
            pairs=len(texts),
        )
    found = _forced(lm, texts[0], cut)
    require_length(lm, len(found), longest(lm))
    return found


def continued(
    lm: LoadedModel, inputs: dict[str, Tensor], tokens: Tokens, n: int
) -> tuple[Tensor, Tokens]:
    """Ids [batch, token] of these tokens and up to `n` more; the end token is not read again."""
    ids = torch.from_numpy(tokens.ids)[None].to(lm.key.device)
    if not n:
        return ids, tokens
    _require_room(lm, len(tokens), n)
    model: Any = lm.model
    with lm.lock, torch.no_grad():
        encoded, kept, read = model.get_encoder()(**inputs), None, ids
        for _ in range(n):
            given = {"encoder_outputs": encoded, "past_key_values": kept, "use_cache": True}
            out = model(decoder_input_ids=read, **given)
            if "logits" not in out:  # no head over words: it writes nothing
                break
            following = out["logits"][:, -1:].argmax(-1)
            if int(following) in _ends(lm):
                break
            ids = torch.cat([ids, following], dim=1)
            kept = out.get("past_key_values")
            read = ids if kept is None else following
    written = ids[0].tolist()
    offsets = [*tokens.offsets, *[(0, 0)] * (len(written) - len(tokens))]
    return ids, _tokens(lm, tokens.text, written, offsets)


def longest(lm: LoadedModel) -> int:
    """How many tokens the decoder reads at most."""
    config: Any = lm.model.config
    return min(lm.max_tokens, getattr(config, "max_target_positions", lm.max_tokens))


def _forced(lm: LoadedModel, target: str, cut: bool) -> Tokens:
    """The target behind the start token, as its tokenizer prepares it, without its end.

    A target that begins with a special token was typed with all that it needs (language and task,
    for instance): nothing is added to it then.
    """
    tokenizer: Any = lm.text_tokenizer()
    encoded = tokenizer(target, add_special_tokens=False, return_tensors="pt", verbose=False)
    typed = encoded["input_ids"][0].tolist()
    if not typed or typed[0] not in tokenizer.all_special_ids:
        encoded = tokenizer(text_target=target, return_tensors="pt", verbose=False)
    row = text_tokens(lm, encoded, [target], None)[0]
    start = start_token(lm.model)
    ids, offsets = row.ids.tolist(), list(row.offsets)
    if ids[:1] != [start]:  # some tokenizers put it there themselves
        ids, offsets = [start, *ids], [(0, 0), *offsets]
    ends = {*_ends(lm), tokenizer.eos_token_id}
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


def _ends(lm: LoadedModel) -> list[int]:
    """The tokens that end what the model writes."""
    model: Any = lm.model
    config = getattr(model, "generation_config", None) or model.config
    ends = config.eos_token_id
    return ends if isinstance(ends, list) else [ends]


def _require_room(lm: LoadedModel, begun: int, n: int) -> None:
    limit = longest(lm)
    if begun + n > limit:
        raise TooLarge(
            f"{begun} tokens and {n} more are more than the {limit} that {lm.name} takes",
            code="no_room_to_write",
            found=begun + n,
            limit=limit,
            unit="tokens",
        )
