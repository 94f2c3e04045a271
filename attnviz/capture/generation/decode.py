"""Lets a model write by transformers' own `generate`, with a key cache that grows.

In: a model, the inputs of its first step and a `Generation`. Out: `Written`, the ids and the
scores. Settings of the model's own that would change its scores are switched off, so that what is
drawn comes from the softmax of the logits, changed by temperature, top-k and top-p and nothing
else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import LogitsProcessorList

from attnviz.capture.generation import logits
from attnviz.capture.generation.draw import Draw
from attnviz.capture.generation.settings import Generation
from attnviz.errors import BadInput, TooLarge
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel

# settings of a model that change its scores, with the values that leave them alone
NEUTRAL: dict[str, object] = {
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "min_p": None,
    "top_h": None,
    "sequence_bias": None,
    "guidance_scale": None,
}


@dataclass(frozen=True, eq=False)
class Written:
    """The ids of prompt and written text, and the row of each step that led to each text.

    `beam_rows` are the beams that were followed, -1 after a text's end; None without beam search.
    `logits` are the model's scores after each token that it read, in rows for the last of them.
    """

    ids: Int[Tensor, "batch token"]
    beam_rows: Int[Tensor, "batch step"] | None
    logits: Float[Tensor, "batch row vocab"] | None


def require_can_write(
    lm: LoadedModel, inputs: Mapping[str, object], generation: Generation
) -> None:
    """Raise `BadInput` for a model that cannot write, `TooLarge` if it has too few positions."""
    if not architecture.can_generate(lm.model):
        raise BadInput(
            f"{lm.name} cannot write text: it has no language-model head",
            code="cannot_generate",
            name=lm.name,
        )
    prompt = inputs.get("decoder_input_ids" if architecture.has_decoder(lm.model) else "input_ids")
    n_prompt = prompt.shape[1] if isinstance(prompt, Tensor) else 1
    n_needed = n_prompt + generation.n_tokens - 1  # the last token is never read
    if n_needed > lm.max_tokens:
        raise TooLarge(
            f"{generation.n_tokens} new tokens after {n_prompt} need {n_needed} positions and"
            f" {lm.name} has {lm.max_tokens}; write fewer, or shorten the text",
            code="no_room_to_write",
            found=n_needed,
            limit=lm.max_tokens,
            unit="tokens",
        )


def write(lm: LoadedModel, inputs: Mapping[str, object], generation: Generation) -> Written:
    """The text that the model writes behind its inputs; raises what `require_can_write` raises."""
    require_can_write(lm, inputs, generation)
    options = _options(lm, inputs, generation)
    options |= logits.options(lm.model, *_first_step(inputs, generation))
    with logits.collected(lm.model) as scores:
        result = lm.model.generate(  # type: ignore[operator]
            **inputs,
            max_new_tokens=generation.n_tokens,
            num_beams=generation.beams,
            use_cache=True,
            return_dict_in_generate=True,
            output_scores=generation.beams > 1,
            **options,
        )
    beam_rows = result.get("beam_indices") if generation.beams > 1 else None
    return Written(result.sequences, beam_rows, logits.joined(scores, beam_rows))


def _options(
    lm: LoadedModel, inputs: Mapping[str, object], generation: Generation
) -> dict[str, object]:
    """The options of `generate` that say how tokens are drawn.

    All tokens of ids without a mask count, and an end token pads: transformers would decide the
    same way, with a warning for each.
    """
    config = getattr(lm.model, "generation_config", None)
    options: dict[str, object] = {"do_sample": False}  # what is drawn is drawn by `Draw`
    options |= {
        name: neutral
        for name, neutral in NEUTRAL.items()
        if getattr(config, name, None) not in (None, neutral)
    }
    ids = inputs.get("input_ids")
    takes_mask = "attention_mask" in architecture.forward_arguments(lm.model)
    if isinstance(ids, Tensor) and takes_mask and "attention_mask" not in inputs:
        options["attention_mask"] = torch.ones_like(ids)
    end = getattr(config, "eos_token_id", None)
    if getattr(config, "pad_token_id", None) is None and end is not None:
        options["pad_token_id"] = end[0] if isinstance(end, list) else end
    if generation.temperature is not None:
        options["logits_processor"] = LogitsProcessorList([Draw(generation)])
    return options


def _first_step(inputs: Mapping[str, object], generation: Generation) -> tuple[int, int]:
    """The numbers of rows and tokens in the first step."""
    ids = inputs.get("input_ids")
    n_batch, n_token = ids.shape if isinstance(ids, Tensor) else (1, 1)
    return n_batch * generation.beams, n_token
