"""The tokens of each stack, named by the text, the picture, the sound, or by their number.

In: a plan, the recorded calls and what the model wrote. Out: `TokenNames`. The tokens of texts are
known before the model runs. Those of a picture are its patches and those of a sound its frames, as
many as the model made of them; where a convolution made patches coarser, the call itself knows
their places. Any other tokens (learned queries, rows of numbers) are numbered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from attnviz.attention.call import AttentionCall
from attnviz.capture.generation.decode import Written
from attnviz.capture.plan import images
from attnviz.capture.plan.encoding import id_tokens
from attnviz.capture.plan.plan import Plan, TokensByStack
from attnviz.capture.plan.sound import frame_step, frame_tokens
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Stack, Tokens, named_tokens


@dataclass(frozen=True)
class TokenNames:
    """The tokens of each stack, one for each row of its batch.

    The last `n_generated` of a writing stack were written by the model. `grid` is (rows, columns)
    of a picture's patches, `frame_s` the distance of a sound's frames in seconds.
    """

    by_stack: TokensByStack
    n_generated: int
    grid: tuple[int, int] | None
    frame_s: float | None


def token_names(
    lm: LoadedModel, plan: Plan, calls: Sequence[AttentionCall], written: Written | None
) -> TokenNames:
    """The tokens of every stack that attends to itself."""
    tokens = _planned(plan, calls)
    n_generated = plan.n_written
    if written is not None:
        stack = _writing_stack(tokens)
        tokens[stack] = _with_written(lm, plan, tokens, calls, written)
        n_generated = len(tokens[stack][0]) - _n_prompt(plan, stack)
    grid = patch_grid(lm, plan)
    for call in calls:
        if call.kind == "self" and call.stack not in tokens and None not in tokens:
            tokens[call.stack] = (_made_by_model(plan, call, tokens, grid),) * call.n_batch
    if not tokens and calls:  # no stack attends to itself: those that ask stand for one
        first = calls[0]
        tokens[first.stack] = (_made_by_model(plan, first, tokens, grid),) * first.n_batch
    return TokenNames(tokens, n_generated, _grid(plan, tokens, calls, grid), _frame_s(plan, tokens))


def _planned(plan: Plan, calls: Sequence[AttentionCall]) -> TokensByStack:
    """The tokens that the plan knows; those of ids belong to the text beside a picture's stack."""
    tokens: TokensByStack = dict(plan.tokens)
    stacks = {call.stack for call in calls}
    if None in tokens and None not in stacks and "text" in stacks:
        tokens["text"] = tokens.pop(None)
    return tokens


def _writing_stack(tokens: TokensByStack) -> Stack | None:
    """The stack that writes: the decoder of two, the text beside a picture, or the only one."""
    if "encoder" in tokens:
        return "decoder"
    return "text" if "text" in tokens else None


def _with_written(
    lm: LoadedModel,
    plan: Plan,
    tokens: TokensByStack,
    calls: Sequence[AttentionCall],
    written: Written,
) -> tuple[Tokens, ...]:
    """The tokens of the writing stack, as far as the model read them again."""
    stack = _writing_stack(tokens)
    n_query = max(call.n_query for call in calls if stack is None or call.stack == stack)
    ids = written.ids[:, :n_query]
    if stack == "text" and len(tokens[stack]) == 1:
        (row,) = tokens[stack]
        (new,) = id_tokens(lm, ids[:, len(row) :])
        return (_joined(row, new),)
    attended = torch.ones_like(ids)
    prompt_mask = plan.tensor("attention_mask")
    if stack is None and prompt_mask is not None and prompt_mask.dim() == 2:
        attended[:, : prompt_mask.shape[1]] = prompt_mask
    return id_tokens(lm, ids, attended)


def _joined(row: Tokens, new: Tokens) -> Tokens:
    """A row and the tokens that were written behind it, which stand for nothing in its text."""
    return replace(
        row,
        ids=np.concatenate([row.ids, new.ids]),
        pieces=row.pieces + new.pieces,
        labels=row.labels + new.labels,
        offsets=row.offsets + new.offsets,
        special=np.concatenate([row.special, new.special]),
        padding=np.concatenate([row.padding, new.padding]),
    )


def _n_prompt(plan: Plan, stack: Stack | None) -> int:
    """The number of tokens that the writing stack started from; a decoder's start token is one."""
    prompt = plan.tensor("decoder_input_ids" if stack == "decoder" else "input_ids")
    return 1 if prompt is None else prompt.shape[1]


def _made_by_model(
    plan: Plan, call: AttentionCall, tokens: TokensByStack, grid: tuple[int, int] | None
) -> Tokens:
    """Tokens that the model itself made, of a picture, of a sound or of nothing known."""
    if call.query_places is not None:
        return call.query_places.tokens()
    n_token = call.n_query
    if _is_of_picture(plan, call, tokens):
        return images.patch_tokens(n_token, images.fitting_grid(n_token, grid))
    if plan.times is not None and call.stack != "decoder":
        step = frame_step(n_token, plan.times)
        if step is not None:
            return frame_tokens(n_token, step, plan.times.sound_s)
    return named_tokens(tuple(map(str, range(n_token))))


def _is_of_picture(plan: Plan, call: AttentionCall, tokens: TokensByStack) -> bool:
    """True if the tokens of a call are patches of a picture that went in."""
    if plan.tensor("pixel_values") is None or call.stack == "decoder":
        return False
    return call.stack == "vision" or "text" not in tokens


def _grid(
    plan: Plan,
    tokens: TokensByStack,
    calls: Sequence[AttentionCall],
    grid: tuple[int, int] | None,
) -> tuple[int, int] | None:
    """The grid of patches that a picture's tokens form; None without a picture."""
    if plan.tensor("pixel_values") is None:
        return None
    places = next((call.query_places for call in calls if call.query_places is not None), None)
    if places is not None:
        return places.grid
    if grid is not None and any(call.windows is not None for call in calls):
        return grid
    rows = tokens.get("vision") or next(iter(tokens.values()))
    return images.fitting_grid(len(rows[0]), grid)


def patch_grid(lm: LoadedModel, plan: Plan) -> tuple[int, int] | None:
    """(rows, columns) of the patches that a picture is cut into, as the model's config says."""
    pixels = plan.tensor("pixel_values")
    config = getattr(lm.model, "config", None)
    patch = getattr(getattr(config, "vision_config", config), "patch_size", None)
    if pixels is None or not isinstance(patch, int) or pixels.dim() != 4:
        return None
    return images.patch_grid(pixels, patch)


def _frame_s(plan: Plan, tokens: TokensByStack) -> float | None:
    """The distance of a sound's frames in seconds; None without a sound, or if it is not known."""
    rows = tokens.get("encoder") or tokens.get(None)
    return None if plan.times is None or not rows else frame_step(len(rows[0]), plan.times)
