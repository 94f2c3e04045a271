"""Sound as input: from samples to what a speech model takes, and its frames as tokens.

In: a model, a `Sound`, and for a model that writes a target. Out: a `Plan`; how long the model
hears is kept in it, so that frames can be named by the time at which they begin. What a decoder is
to have written of the sound comes from `transcripts`.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor, nn

from attnviz.audio.sound import Sound, checked, resampled
from attnviz.capture.plan import transcript
from attnviz.capture.plan.text import Plan
from attnviz.errors import BadInput
from attnviz.models.loaded import LoadedModel
from attnviz.types import Tokens, named_tokens

FILTER_BANK_S = 0.01  # between the rows of Kaldi's filter banks, where an extractor does not say
MOST_THINNED = 32  # rows of features that become one frame


def plan_sound(
    lm: LoadedModel, sound: object, target: object, n_written: int, *, cut: bool
) -> Plan:
    """The plan for a sound; `BadInput` for a model that does not listen."""
    extractor = _extractor(lm)
    if not isinstance(sound, Sound):
        raise BadInput(
            f"sound is {type(sound).__name__}; give an attnviz.Sound",
            code="not_a_sound",
            found=type(sound).__name__,
        )
    given = transcript.given(lm, target, cut=cut)
    heard = resampled(checked(sound), int(extractor.sampling_rate))
    made = extractor(heard.samples, sampling_rate=heard.rate, return_tensors="pt")
    inputs = {name: of.to(lm.key.device) for name, of in made.items() if isinstance(of, Tensor)}
    times = _times(lm, extractor, inputs, heard)
    plan = Plan(inputs, {}, sound_s=heard.seconds, **times)
    if given is None:
        return plan
    ids, tokens = transcript.continued(lm, inputs, given, n_written)
    return replace(
        plan,
        inputs=inputs | {"decoder_input_ids": ids},
        tokens={"decoder": (tokens,)},
        n_written=len(tokens) - len(given),
    )


def frame_step(n_frame: int, seconds: float, among: tuple[float, ...]) -> float | None:
    """How far apart frames are that fill so many seconds; None where they are no such frames.

    Among the steps that a model may take it is the one that gives their number best; a model
    without padding has a little fewer.
    """
    off = {step: abs(seconds / step - n_frame) for step in among}
    best = min(off, key=off.__getitem__, default=None)
    return best if best is not None and off[best] <= 2 + n_frame / 20 else None


def frame_tokens(n_frame: int, step: float, sound_s: float = math.inf) -> Tokens:
    """One token for each frame, named by the time at which it begins, `step` seconds apart.

    What begins when the sound is over is padding, which a model may hear all the same.
    """
    digits = 2 if round(100 * step, 6) % 1 == 0 else 3
    found = named_tokens(tuple(f"{at * step:.{digits}f} s" for at in range(n_frame)))
    silence = np.arange(n_frame) * step >= sound_s
    return replace(found, special=silence, padding=silence)


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


def _times(
    lm: LoadedModel, extractor: Any, inputs: Mapping[str, Tensor], heard: Sound
) -> dict[str, Any]:
    """How long the model hears (an extractor may add silence), and what its frames' step may be.

    Samples are thinned out by the strides of convolutions, one after the other; features, which are
    so far apart already, by a whole number.
    """
    features = next((of for name, of in inputs.items() if of.dim() == 3), None)
    if features is None:
        return {"seconds": heard.seconds, "steps_s": _sample_steps(lm, heard.rate)}
    hop = getattr(extractor, "hop_length", None)
    hop_s = hop / heard.rate if isinstance(hop, int) else FILTER_BANK_S
    bands = getattr(extractor, "num_mel_bins", None) or extractor.feature_size
    n_frame = features.numel() // int(bands)  # some extractors put several into one row
    steps = tuple(hop_s * every for every in range(1, MOST_THINNED + 1))
    return {"seconds": n_frame * hop_s, "steps_s": steps}


def _sample_steps(lm: LoadedModel, rate: int) -> tuple[float, ...]:
    """The product of all strides, and what the model says itself."""
    strides = (of.stride[0] for of in lm.model.modules() if isinstance(of, nn.Conv1d))
    said = getattr(getattr(lm.model, "config", None), "inputs_to_logits_ratio", None)
    found = (math.prod(strides), *([said] if isinstance(said, int) else []))
    return tuple(step / rate for step in found)
