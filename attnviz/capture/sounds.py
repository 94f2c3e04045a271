"""Sound as input: from samples to what a speech model takes, and its frames as tokens.

In: a model and a `Sound`. Out: a `Plan`; how long the model hears is kept in it, so that frames can
be named by the time at which they begin. A model with a decoder needs something to have written:
its start token, and as many tokens as it is asked to add, each the likeliest after those before.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnviz.capture.plan import Plan, TokensByStack, id_tokens, start_token
from attnviz.errors import BadInput, TooLarge
from attnviz.models.loaded import LoadedModel
from attnviz.sound import Sound, checked, resampled
from attnviz.types import Tokens, named_tokens


def plan_sound(lm: LoadedModel, sound: object, n_written: int) -> Plan:
    """The plan for a sound; `BadInput` for a model that does not listen."""
    extractor: Any = lm.processor
    if lm.kind != "speech" or not callable(extractor):
        raise BadInput(
            f"{lm.name} is a {lm.kind} model without a feature extractor: it takes no sound",
            code="no_feature_extractor",
            name=lm.name,
            kind=lm.kind,
        )
    if not isinstance(sound, Sound):
        raise BadInput(
            f"sound is {type(sound).__name__}; give an attnviz.sound.Sound",
            code="not_a_sound",
            found=type(sound).__name__,
        )
    heard = resampled(checked(sound), int(extractor.sampling_rate))
    made = extractor(heard.samples, sampling_rate=heard.rate, return_tensors="pt")
    inputs = {name: of.to(lm.key.device) for name, of in made.items() if isinstance(of, Tensor)}
    seconds = _seconds(extractor, inputs, heard)
    if not getattr(getattr(lm.model, "config", None), "is_encoder_decoder", False):
        ratio = getattr(getattr(lm.model, "config", None), "inputs_to_logits_ratio", None)
        frame_s = ratio / heard.rate if isinstance(ratio, int) else None
        return Plan(inputs, {}, seconds=seconds, frame_s=frame_s)
    ids = _written(lm, inputs, n_written)
    tokens: TokensByStack = {"decoder": id_tokens(lm, ids, None)}
    given = inputs | {"decoder_input_ids": ids}
    return Plan(given, tokens, seconds=seconds, n_written=ids.shape[1] - 1)


def frame_tokens(n_frame: int, step: float) -> Tokens:
    """One token for each frame, named by the time at which it begins, `step` seconds apart."""
    digits = 2 if step >= 0.01 else 3
    return named_tokens(tuple(f"{at * step:.{digits}f} s" for at in range(n_frame)))


def _seconds(extractor: Any, inputs: Mapping[str, Tensor], heard: Sound) -> float:
    """How long the model hears; an extractor may fill the sound up with silence."""
    features, hop = inputs.get("input_features"), getattr(extractor, "hop_length", None)
    if features is None or not isinstance(hop, int):
        return heard.seconds
    frames = features.numel() // int(extractor.feature_size)
    return frames * hop / heard.rate


def _written(lm: LoadedModel, inputs: Mapping[str, Tensor], n: int) -> Tensor:
    """The start token and up to `n` more; the model's end token is not read again."""
    model: Any = lm.model
    ids = torch.full((1, 1), start_token(model), dtype=torch.int64, device=lm.key.device)
    longest = min(lm.max_tokens, getattr(model.config, "max_target_positions", lm.max_tokens))
    if n >= longest:
        raise TooLarge(
            f"{n} tokens and the start are more than the {longest} that {lm.name} takes",
            code="no_room_to_write",
            found=n + 1,
            limit=longest,
            unit="tokens",
        )
    config = getattr(model, "generation_config", None) or model.config
    ends = config.eos_token_id
    with lm.lock, torch.no_grad():
        encoded = model.get_encoder()(**inputs) if n else None
        for _ in range(n):
            logits = model(encoder_outputs=encoded, decoder_input_ids=ids, use_cache=False).logits
            following = logits[:, -1:].argmax(-1)
            if int(following) in (ends if isinstance(ends, list) else [ends]):
                break
            ids = torch.cat([ids, following], dim=1)
    return ids
