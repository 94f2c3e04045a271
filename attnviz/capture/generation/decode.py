"""Let a model write, and join what every step recorded into one matrix per call.

With a key cache, the first step asks for the whole prompt and each later step for one token, with
keys that grow. Row by row, that is the attention of one run over the whole sequence: q, k and v of
the steps are put one after the other, and the mask says which keys each step could see. Under beam
search the rows of a step are beams, and the ones that led to the final text are picked. The model's
scores are joined in the same way, so that each written token has the row it was drawn from.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.capture.generation import logits
from attnviz.errors import BadInput, TooLarge, UnsupportedAttention
from attnviz.models.loaded import LoadedModel

SAME_FACTOR = 1e-3  # what a step measures of one token differs by that in half precision


@dataclass(frozen=True)
class Generation:
    """Writing greedily, with beams, or sampled from `seed` if a temperature is given."""

    n_tokens: int
    beams: int = 1
    temperature: float | None = None
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


# what a model's own settings may add to sampling, and what leaves its scores alone: what is drawn
# must come from the softmax of the logits, changed by temperature, top-k and top-p and nothing else
PLAIN: dict[str, object] = {
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
    """What was written: all ids [batch, token], and which row of each step led to each text.

    `beam_rows` [batch, step] comes from beam search, None without. `logits` are the model's scores
    after each token that it read, [batch, token, vocab]: all but the last, or the last of these.
    """

    ids: Tensor
    beam_rows: Tensor | None
    logits: Tensor | None


def write(lm: LoadedModel, inputs: dict[str, Tensor], how: Generation) -> Written:
    """Run the model's own `generate` with a dynamic key cache."""
    if not _makes_sense(how):
        raise BadInput(
            f"cannot generate with {how}: at least one token and one beam, and beams or a"
            " temperature, not both; temperature above 0, top_k from 0, top_p above 0 and up to 1",
            code="bad_generation",
            asked=str(how),
        )
    generate = getattr(lm.model, "generate", None)
    if generate is None or not getattr(lm.model, "can_generate", lambda: False)():
        raise BadInput(
            f"{lm.name} cannot write text: it has no language-model head",
            code="cannot_generate",
            name=lm.name,
        )
    _require_room(lm, inputs, how)
    options = _options(lm, how) | logits.wanted(lm.model, *_read_at_once(inputs, how))
    with torch.random.fork_rng(devices=[]), logits.watched(lm.model) as scores:
        torch.manual_seed(how.seed)
        out = generate(
            **inputs,
            max_new_tokens=how.n_tokens,
            num_beams=how.beams,
            use_cache=True,
            return_dict_in_generate=True,
            output_scores=how.beams > 1,
            **options,
        )
    beam_rows = out.get("beam_indices") if how.beams > 1 else None
    return Written(out.sequences, beam_rows, logits.joined(scores, beam_rows))


def _makes_sense(how: Generation) -> bool:
    if how.n_tokens < 1 or how.beams < 1:
        return False
    if how.temperature is None:
        return True
    return how.beams == 1 and how.temperature > 0 and how.top_k >= 0 and 0 < how.top_p <= 1


def _options(lm: LoadedModel, how: Generation) -> dict[str, object]:
    """How tokens are drawn; what the model's own settings would add is taken away."""
    config = getattr(lm.model, "generation_config", None)
    options: dict[str, object] = {"do_sample": how.temperature is not None}
    options |= {
        name: plain
        for name, plain in PLAIN.items()
        if getattr(config, name, None) not in (None, plain)
    }
    if how.temperature is not None:
        options |= {"temperature": how.temperature, "top_k": how.top_k, "top_p": how.top_p}
    return options


def _read_at_once(inputs: dict[str, Tensor], how: Generation) -> tuple[int, int]:
    """Rows and tokens of the first step."""
    n_batch, n_token = inputs["input_ids"].shape if "input_ids" in inputs else (1, 1)
    return n_batch * how.beams, n_token


def _require_room(lm: LoadedModel, inputs: dict[str, Tensor], how: Generation) -> None:
    """Raise `TooLarge` when the model has no positions left for what it is to write."""
    two_stacks = lm.kind == "encoder-decoder"
    given = 1 if two_stacks or "input_ids" not in inputs else inputs["input_ids"].shape[1]
    needed = given + how.n_tokens - 1  # the last token is never read
    if needed > lm.max_tokens:
        raise TooLarge(
            f"{how.n_tokens} new tokens after {given} need {needed} positions and {lm.name} has"
            f" {lm.max_tokens}; write fewer, or shorten the text",
            code="no_room_to_write",
            found=needed,
            limit=lm.max_tokens,
            unit="tokens",
        )


def joined(calls: Iterable[AttentionCall], written: Written) -> tuple[AttentionCall, ...]:
    """One call per attention of the model, in place of one per step."""
    by_place: dict[tuple[str, int], list[AttentionCall]] = {}
    for call in calls:
        by_place.setdefault((call.module, call.layer), []).append(call)
    rows = written.beam_rows
    # beams that were given up may have run on longer than the text that was chosen
    last = None if rows is None else rows.shape[1]
    return tuple(_join(steps[:last], rows) for steps in by_place.values())


def _join(steps: list[AttentionCall], beam_rows: Tensor | None) -> AttentionCall:
    first = steps[0]
    if first.stack == "encoder" or len(steps) == 1:
        return first
    parts = [_picked(step, _rows(beam_rows, number)) for number, step in enumerate(steps)]
    inputs = [part for part, _ in parts]
    if first.kind == "cross":
        keys, values = inputs[0].key, inputs[0].value
        seen = [inputs[0].n_key] * len(inputs)
    else:
        new = [part.n_query for part in inputs]
        keys = torch.cat([part.key[:, :, -n:] for part, n in zip(inputs, new, strict=True)], dim=2)
        values = torch.cat(
            [part.value[:, :, -n:] for part, n in zip(inputs, new, strict=True)], dim=2
        )
        seen = torch.tensor(new).cumsum(0).tolist()
    whole = replace(
        inputs[0],
        query=torch.cat([part.query for part in inputs], dim=2),
        key=keys,
        value=values,
        mask=_stacked_masks(inputs, seen),
        bias=_stacked_biases(inputs, seen),
        causal=False,
        key_version=None,
    )
    output = torch.cat([part for _, part in parts], dim=1)
    return replace(first, inputs=whole, output=output, projections=_projections(steps, beam_rows))


def _rows(beam_rows: Tensor | None, step: int) -> Tensor | None:
    """Which batch rows of a step led to the final texts; a text that had ended has none."""
    return None if beam_rows is None else beam_rows[:, step].clamp(min=0)


def _picked(step: AttentionCall, rows: Tensor | None) -> tuple[AttentionInputs, Tensor]:
    inputs = step.inputs
    if not isinstance(inputs, AttentionInputs):
        raise UnsupportedAttention(
            f"{step.module} cannot be joined over generated tokens: it computes attention with code"
            " of its own, and only its weights are known",
            code="cannot_join",
            module=step.module,
        )
    inputs.qkv(0)  # raises when a static cache has overwritten the keys since
    if rows is None:
        return inputs, step.output
    picked = replace(
        inputs,
        query=inputs.query[rows],
        key=inputs.key[rows],
        value=inputs.value[rows],
        mask=None if inputs.mask is None else _expanded(inputs.mask, inputs.n_batch)[rows],
        bias=None if inputs.bias is None else _expanded(inputs.bias, inputs.n_batch)[rows],
    )
    return picked, step.output[rows]


def _expanded(mask: Tensor, n_batch: int) -> Tensor:
    return mask.expand(n_batch, *mask.shape[1:])


def _stacked_masks(steps: list[AttentionInputs], seen: list[int]) -> Tensor:
    """Which keys of the whole each query could see; `seen` counts the keys known at each step.

    A cache that drops old keys (sliding windows) leaves the newest: they stand at the right.
    """
    visible = []
    for step in steps:
        mask = step.mask
        if mask is None:
            mask = torch.ones(1, 1, step.n_query, step.n_key, dtype=torch.bool)
            mask = mask.tril() if step.causal else mask
        visible.append(mask.expand(step.n_batch, -1, -1, -1))
    return _stacked(visible, steps, seen)


def _stacked_biases(steps: list[AttentionInputs], seen: list[int]) -> Tensor | None:
    """What each step added to its scores, O(n²); nothing where the model adds nothing."""
    biases = [step.bias for step in steps if step.bias is not None]
    return _stacked(biases, steps, seen) if len(biases) == len(steps) else None


def _stacked(parts: list[Tensor], steps: list[AttentionInputs], seen: list[int]) -> Tensor:
    """[batch, head, query, key] of all steps' rows, each at the keys that its step could see."""
    rows = []
    for part, step, known in zip(parts, steps, seen, strict=True):
        n_kept = step.n_key
        kept = part[..., -n_kept:].expand(-1, -1, step.n_query, n_kept)
        row = torch.zeros(*kept.shape[:3], seen[-1], dtype=part.dtype)
        row[..., known - n_kept : known] = kept.cpu()
        rows.append(row)
    n_head = max(row.shape[1] for row in rows)
    stacked = torch.cat([row.expand(-1, n_head, -1, -1) for row in rows], dim=2)
    return stacked.to(steps[0].query.device)


def _projections(steps: list[AttentionCall], beam_rows: Tensor | None) -> dict[str, Projection]:
    """The layers that every step found, with their inputs and outputs one after the other."""
    first = steps[0]
    # the keys of cross-attention are made once, in the first step
    names = ("q", "out") if first.kind == "cross" else ("q", "k", "v", "out")
    found = {}
    for name in names:
        parts = [step.projections.get(name) for step in steps]
        whole = [part for part in parts if part is not None]
        turned = any(part.turned for part in whole)  # the first position turns by nothing
        if len(whole) == len(parts) and (turned or _one_factor(whole)):
            found[name] = replace(
                whole[0],
                input=_steps_of([part.input for part in whole], beam_rows),
                output=_steps_of([part.output for part in whole], beam_rows),
                turned=turned,
                factor=1.0 if turned else whole[0].factor,
            )
    return found


def _one_factor(parts: list[Projection]) -> bool:
    """True when every step was multiplied by the same constant, but for rounding."""
    first = parts[0].factor
    return all(math.isclose(part.factor, first, rel_tol=SAME_FACTOR) for part in parts)


def _steps_of(tensors: list[Tensor], beam_rows: Tensor | None) -> Tensor:
    picked = [
        tensor if (rows := _rows(beam_rows, step)) is None else tensor[rows]
        for step, tensor in enumerate(tensors)
    ]
    return torch.cat(picked, dim=1)
