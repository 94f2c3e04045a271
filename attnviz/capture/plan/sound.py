"""The plan for a sound: what a speech model takes, and its frames as tokens.

In: a model and a request with a `Sound`. Out: a `Plan` with the times that its frames may have, so
that they can be named by the time at which they begin. The tokens of a decoder that reads along
come from `transcript`.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor, nn

from attnviz.audio.sound import Sound, resampled
from attnviz.capture.plan import transcript
from attnviz.capture.plan.plan import FrameTimes, Plan
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens, named_tokens

FILTER_BANK_S = 0.01  # between the rows of Kaldi's filter banks, where an extractor does not say
MAX_STRIDE = 32  # rows of features that become one frame


def plan_sound(lm: LoadedModel, request: Request) -> Plan:
    """The plan for a sound; raises `BadInput` for a model that takes none, and for a target or
    tokens to write where it has no decoder."""
    extractor = _extractor(lm)
    _require_decoder(lm, request)
    assert request.sound is not None
    prompt = transcript.prompt(lm, request) if architecture.has_decoder(lm.model) else None
    sound = resampled(request.sound, int(extractor.sampling_rate))
    features = extractor(sound.samples, sampling_rate=sound.rate, return_tensors="pt")
    inputs = {
        name: values.to(lm.key.device)
        for name, values in features.items()
        if isinstance(values, Tensor)
    }
    plan = Plan(inputs, times=_times(lm, extractor, inputs, sound))
    if prompt is None:
        return plan
    n_tokens = 0 if request.generation is None else request.generation.n_tokens
    ids, tokens = transcript.continued(lm, inputs, prompt, n_tokens)
    return replace(
        plan,
        inputs=inputs | {"decoder_input_ids": ids},
        tokens={"decoder": (tokens,)},
        n_written=len(tokens) - len(prompt),
    )


def _extractor(lm: LoadedModel) -> Any:
    extractor: Any = lm.processor
    if lm.kind != "speech" or not callable(extractor):
        raise BadInput(
            f"{lm.name} is a {lm.kind} model without a feature extractor: it takes no sound",
            code="no_feature_extractor",
            name=lm.name,
            kind=lm.kind,
        )
    return extractor


def _require_decoder(lm: LoadedModel, request: Request) -> None:
    """Raise `BadInput` for a transcript, typed or to be written, without a decoder for it."""
    names = [
        name
        for name, value in (("target=", request.target), ("generate=", request.generation))
        if value
    ]
    if names and not architecture.has_decoder(lm.model):
        raise BadInput(
            f"{lm.name} has no decoder, so it writes nothing: leave {' and '.join(names)} out",
            code="only_hears",
            name=lm.name,
        )


def frame_step(n_frame: int, times: FrameTimes) -> float | None:
    """The distance in seconds of frames that fill the time that was heard; None if none fits.

    Among the distances that a model may have it is the one that gives the number of frames best; a
    model without padding has a little fewer.
    """
    excess = {step: abs(times.heard_s / step - n_frame) for step in times.steps_s}
    best = min(excess, key=excess.__getitem__, default=None)
    return best if best is not None and excess[best] <= 2 + n_frame / 20 else None


def frame_tokens(n_frame: int, step: float, sound_s: float = math.inf) -> Tokens:
    """One token for each frame, named by the time at which it begins, `step` seconds apart.

    Frames that begin after the sound's end count as padding; a model may attend to them.
    """
    digits = 2 if round(100 * step, 6) % 1 == 0 else 3
    tokens = named_tokens(tuple(f"{number * step:.{digits}f} s" for number in range(n_frame)))
    is_silence = np.arange(n_frame) * step >= sound_s
    return replace(tokens, special=is_silence, padding=is_silence)


def _times(
    lm: LoadedModel, extractor: Any, inputs: Mapping[str, Tensor], sound: Sound
) -> FrameTimes:
    """The time that the model hears, and the distances that its frames may have.

    Samples are thinned by the strides of convolutions, one after the other; features, which have a
    distance already, by a whole number.
    """
    features = next((tensor for tensor in inputs.values() if tensor.dim() == 3), None)
    if features is None:
        return FrameTimes(sound.seconds, sound.seconds, _sample_steps(lm, sound.rate))
    hop = getattr(extractor, "hop_length", None)
    hop_s = hop / sound.rate if isinstance(hop, int) else FILTER_BANK_S
    n_band = getattr(extractor, "num_mel_bins", None) or extractor.feature_size
    n_row = features.numel() // int(n_band)  # some extractors put several rows into one
    steps = tuple(hop_s * stride for stride in range(1, MAX_STRIDE + 1))
    return FrameTimes(n_row * hop_s, sound.seconds, steps)


def _sample_steps(lm: LoadedModel, rate: int) -> tuple[float, ...]:
    """The distance by the product of all strides, and the one that the config declares."""
    strides = (layer.stride[0] for layer in lm.model.modules() if isinstance(layer, nn.Conv1d))
    declared = getattr(getattr(lm.model, "config", None), "inputs_to_logits_ratio", None)
    ratios = (math.prod(strides), *([declared] if isinstance(declared, int) else []))
    return tuple(ratio / rate for ratio in ratios)
