"""`capture`: from a text or a picture to every attention head, in one forward pass.

Plans first (everything is validated and tokenised), then runs the model once under its lock, or
lets it write and joins the steps. Nothing half-captured is returned: an error anywhere raises.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.capture.generation import logits as scores
from attnviz.capture.generation.decode import Generation, Written, joined, write
from attnviz.capture.locate.windows import with_windows
from attnviz.capture.plan import images
from attnviz.capture.plan.sound import frame_step, frame_tokens, plan_sound
from attnviz.capture.plan.text import (
    Plan,
    TokensByStack,
    id_tokens,
    plan_example,
    plan_inputs,
    plan_text,
)
from attnviz.capture.plan.text_image import plan_text_image, with_written
from attnviz.capture.record.recorder import record, row_step
from attnviz.capture.token_order import with_unrolled
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.models.loaded import LoadedModel
from attnviz.types import Stack, Tokens, named_tokens

Text = str | Sequence[str]


def capture(
    lm: LoadedModel,
    text: Text | None = None,
    text_pair: Text | None = None,
    *,
    target: Text | None = None,
    image: object = None,
    sound: object = None,
    inputs: Mapping[str, Tensor] | None = None,
    generate: int | Generation = 0,
    cut: bool = False,
    chat: bool = False,
    store: Literal["float16"] | None = None,
    offload: bool = False,
) -> Capture:
    """Run the model once and keep every attention call.

    Give one of: a text, or several as one padded batch (`text_pair` adds a second sentence to each,
    `target` is what an encoder-decoder is to have written); a picture, or a list of several; a text
    and a picture, for a model that reads both; a sound (`attnviz.Sound`), for a model that
    listens (`target` is then what it is to have written of it); or `inputs` that are ready.
    A model that comes with inputs of its own (`lm.example`) may be given nothing.
    `generate` lets the model write so many tokens first. Lone surrogates become U+FFFD; `cut` keeps
    the beginning of a text that is too long. `chat` gives each text, with its picture, as a message
    in the model's own chat template, with what begins the answer. `store` halves what is kept,
    `offload` keeps it in main memory instead of the model's device.

    Raises `BadInput` for a text that is empty or no string, for a model that cannot take what was
    given and for a chat template that is missing or fails, `TooLarge` for a text over the model's
    limit, and `UnsupportedAttention` for attention that cannot be derived exactly.
    """
    how = generate if isinstance(generate, Generation) else Generation(generate)
    if chat:
        _require_message(text, text_pair=text_pair, target=target, sound=sound, inputs=inputs)
    if sound is not None:
        _require_alone(text=text, image=image, inputs=inputs)
        plan, how = plan_sound(lm, sound, target, how.n_tokens, cut=cut), Generation(0)
    else:
        plan = _plan(lm, text, text_pair, target, image, inputs, bool(how.n_tokens), cut, chat)
    try:
        calls, output, written = _run(lm, plan, how)
    except UnsupportedAttention as error:
        if error.code != "modules_changed":
            raise
        calls, output, written = _run(lm, plan, how)
    calls = tuple(_thinned(call, store, offload) for call in calls)
    calls = with_windows(lm.model, calls, _n_input(plan), _patch_grid(lm, plan))
    with lm.lock:
        calls = with_unrolled(lm.model, calls, _n_input(plan))
    tokens = _all_tokens(lm, plan, calls, written)
    result = Capture(
        model=lm.key,
        calls=calls,
        tokens_by_stack=tokens,
        n_generated=plan.n_written if written is None else _n_written(plan, tokens),
        grid=_grid_of(lm, plan, tokens, calls),
        frame_s=_frame_s(plan, tokens),
        hidden=_offloaded(output.get("last_hidden_state"), offload),
        logits=_offloaded(scores.kept(output.get("logits")), offload),
    )
    _require_numbers(lm, result)
    return result


def _require_alone(**others: object) -> None:
    given = [name for name, of in others.items() if of is not None]
    if given:
        raise BadInput(
            f"capture() was given a sound and {' and '.join(given)}; give the sound alone",
            code="what_to_capture",
            found=", ".join(("sound", *given)),
        )


def _require_message(text: object, **others: object) -> None:
    given = [name for name, of in others.items() if of is not None]
    if text is None or given:
        found = ", ".join(("chat", *(["text"] if text is not None else []), *given))
        raise BadInput(
            f"capture() was given {found}; a message is a text, with image= where the model reads"
            " pictures in it: give text= and chat=True",
            code="what_to_capture",
            found=found,
        )


def _plan(
    lm: LoadedModel,
    text: object,
    text_pair: object,
    target: object,
    image: object,
    inputs: Mapping[str, Tensor] | None,
    generates: bool,
    cut: bool,
    chat: bool,
) -> Plan:
    given = [
        name
        for name, value in (("text", text), ("image", image), ("inputs", inputs))
        if value is not None
    ]
    if not given and lm.example is not None:
        return plan_example(lm.example)
    if given == ["text", "image"]:
        return plan_text_image(lm, text, image, cut=cut, generates=generates, chat=chat)
    if len(given) != 1:
        raise BadInput(
            f"capture() was given {' and '.join(given) or 'nothing'}; give one of text, image,"
            " inputs, or text and image to a model that reads both",
            code="what_to_capture",
            found=", ".join(given),
        )
    if inputs is not None:
        return plan_inputs(lm, inputs)
    if image is not None:
        return Plan(images.pixel_inputs(lm, image), {})
    return plan_text(lm, text, text_pair, target, generates=generates, cut=cut, chat=chat)


def _run(
    lm: LoadedModel, plan: Plan, how: Generation
) -> tuple[tuple[AttentionCall, ...], Mapping[str, Tensor], Written | None]:
    with lm.lock, torch.no_grad(), record(lm.model, thin=not how.n_tokens) as calls:
        if how.n_tokens:
            written = write(lm, plan.inputs, how)
        else:
            output = lm.model(**plan.inputs, **_without_cache(lm))
    if how.n_tokens:
        output = {} if written.logits is None else {"logits": written.logits}
        return joined(calls, written), output, written
    return tuple(calls), output if isinstance(output, Mapping) else {}, None


def _n_input(plan: Plan) -> int:
    """How many texts or pictures went in."""
    given = plan.inputs
    first = given["input_ids"] if "input_ids" in given else next(iter(given.values()))
    return len(first) if first.dim() else 1


def _without_cache(lm: LoadedModel) -> dict[str, bool]:
    """No key cache for a single pass: it would copy every key and value."""
    return {"use_cache": False} if _knows_cache(type(lm.model).forward) else {}


@cache
def _knows_cache(forward: Callable[..., object]) -> bool:
    return "use_cache" in inspect.signature(forward).parameters


def _thinned(call: AttentionCall, store: str | None, offload: bool) -> AttentionCall:
    """The call with no more kept than was asked for."""
    step = row_step(call.n_query) if call.row_step == 1 else 1
    thin = memory.thinned(call, step) if step > 1 else call
    if store is not None or offload:
        dtype = torch.float16 if store == "float16" else None
        thin = memory.moved(thin, dtype, "cpu" if offload else None)
    return thin


def _offloaded(tensor: Tensor | None, offload: bool) -> Tensor | None:
    return tensor.cpu() if offload and tensor is not None else tensor


def _all_tokens(
    lm: LoadedModel, plan: Plan, calls: tuple[AttentionCall, ...], written: Written | None
) -> TokensByStack:
    """The tokens of each stack: planned ones, what was written, patches, or plain numbers."""
    tokens: TokensByStack = dict(plan.tokens)
    if written is not None:
        stack = _writing_stack(tokens)
        n_query = max(call.n_query for call in calls if call.stack == stack or stack is None)
        prompt = plan.inputs.get("attention_mask") if stack is None else None
        ids = written.ids[:, :n_query]
        attended = torch.ones_like(ids)
        if prompt is not None:
            attended[:, : prompt.shape[1]] = prompt
        if stack == "text":
            (row,) = tokens[stack]
            (new,) = id_tokens(lm, ids[:, len(row) :], None)
            tokens[stack] = (with_written(row, new),)
        else:
            tokens[stack] = id_tokens(lm, ids, attended)
    for call in calls:
        if call.kind == "self" and call.stack not in tokens and tokens.get(None) is None:
            tokens[call.stack] = (_made_up(lm, plan, call, tokens),) * call.n_batch
    return tokens


def _made_up(lm: LoadedModel, plan: Plan, call: AttentionCall, tokens: TokensByStack) -> Tokens:
    """Names for the tokens of a stack that has no text of its own."""
    if call.query_places is not None:
        return call.query_places.tokens()
    named = _patches if call.stack == "vision" or "text" not in tokens else _numbers
    return named(lm, plan, call.n_query)


def _writing_stack(tokens: TokensByStack) -> Stack | None:
    """What writes: a decoder beside an encoder, a text that a picture is part of, or the one stack
    there is."""
    return "decoder" if "encoder" in tokens else "text" if "text" in tokens else None


def _patches(lm: LoadedModel, plan: Plan, n_token: int) -> Tokens:
    if plan.seconds is not None:
        step = frame_step(n_token, plan.seconds, plan.steps_s)
        return (
            _numbers(lm, plan, n_token)
            if step is None
            else frame_tokens(n_token, step, plan.sound_s)
        )
    return images.patch_tokens(n_token, images.fitting_grid(n_token, _patch_grid(lm, plan)))


def _numbers(_lm: LoadedModel, _plan: Plan, n_token: int) -> Tokens:
    """Names for tokens of which only their number is known: learned queries, text with patches."""
    return named_tokens(tuple(map(str, range(n_token))))


def _n_written(plan: Plan, tokens: TokensByStack) -> int:
    """How many tokens at the end of a writing stack are not those it was given."""
    stack = _writing_stack(tokens)
    if stack == "decoder":
        return len(tokens[stack][0]) - 1  # all but the start token
    return len(tokens[stack][0]) - plan.inputs["input_ids"].shape[1]


def _grid_of(
    lm: LoadedModel, plan: Plan, tokens: TokensByStack, calls: tuple[AttentionCall, ...]
) -> tuple[int, int] | None:
    """The grid of patches that a picture's tokens form; None without a picture."""
    if "pixel_values" not in plan.inputs:
        return None
    placed = next((call.query_places for call in calls if call.query_places is not None), None)
    if placed is not None:
        return placed.grid
    seen = tokens.get("vision") or next(iter(tokens.values()))
    grid, n_token = _patch_grid(lm, plan), len(seen[0])
    if grid is not None and any(call.windows is not None for call in calls):
        return grid
    return images.fitting_grid(n_token, grid)


def _frame_s(plan: Plan, tokens: TokensByStack) -> float | None:
    """How far apart the frames of a sound are; None where there is no sound, or it is not known."""
    frames = tokens.get("encoder") or tokens.get(None)
    if plan.seconds is None or not frames:
        return None
    return frame_step(len(frames[0]), plan.seconds, plan.steps_s)


def _patch_grid(lm: LoadedModel, plan: Plan) -> tuple[int, int] | None:
    pixels = plan.inputs.get("pixel_values")
    config = getattr(lm.model, "config", None)
    patch = getattr(getattr(config, "vision_config", config), "patch_size", None)
    if pixels is None or not isinstance(patch, int) or pixels.dim() != 4:
        return None
    return images.patch_grid(pixels, patch)


def _require_numbers(lm: LoadedModel, result: Capture) -> None:
    for tensor in (result.hidden, result.logits):
        if tensor is not None and bool(tensor.isnan().any()):
            raise BadInput(
                f"{lm.name} answered with NaN: its weights or the inputs are damaged",
                code="nan_output",
                name=lm.name,
            )
