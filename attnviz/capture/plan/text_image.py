"""A text together with a picture: what goes into models that read both.

In: a model, one text and one picture. Out: a `Plan` with the inputs of both, and the tokens of what
the model then wrote behind them. A model with two
towers takes them side by side. One that reads a picture as part of its text has a token that stands
for a piece of it: the model is asked how many pieces the picture has, and as many of that token
stand after the tokens that begin a text, or where the text names it itself (Liu et al. 2023,
"LLaVA").
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.capture.plan import images
from attnviz.capture.plan.text import Plan, plan_text, require_length
from attnviz.errors import BadInput
from attnviz.models import architecture
from attnviz.models.loaded import LoadedModel
from attnviz.types import Tokens


def plan_text_image(
    lm: LoadedModel,
    text: object,
    image: object,
    *,
    cut: bool,
    generates: bool = False,
    chat: bool = False,
) -> Plan:
    """The plan for a text and a picture; `BadInput` for a model that does not read both, and for
    one that is to write and has no picture inside its text."""
    if lm.kind != "text-image":
        raise BadInput(
            f"{lm.name} is a {lm.kind} model: it does not read text and image together; give"
            " one of them",
            code="not_both",
            name=lm.name,
            kind=lm.kind,
        )
    if generates and not lm.card.writes_of_pictures:
        raise BadInput(
            f"{lm.name} writes nothing of a text with a picture that the steps could show: either"
            " the picture is no part of its text, or it writes by code of its own",
            code="cannot_write_of_pictures",
            name=lm.name,
        )
    pixels = images.pixel_inputs(lm, image)
    token = architecture.picture_token(lm.model)
    count = 0 if token is None else _n_pieces(lm, pixels)
    plan = plan_text(lm, text, None, None, generates=False, cut=cut, chat=chat, n_piece=count)
    (rows,) = plan.tokens.values()
    if len(rows) != 1 or len(pixels.get("pixel_values", [])) < 1:
        raise BadInput(
            f"text has {len(rows)} entries; give one text with one picture",
            code="one_text_one_picture",
            found=len(rows),
        )
    inputs = plan.inputs
    if token is not None:
        inputs, row = _with_pieces(lm, rows[0], count, token)
        rows = (row,)
    known = inspect.signature(type(lm.model).forward).parameters
    kept = {name: of for name, of in (inputs | pixels).items() if name in known}
    return Plan(kept, {"text": rows})


def _with_pieces(
    lm: LoadedModel, row: Tokens, count: int, token: int
) -> tuple[dict[str, Tensor], Tokens]:
    """The text's inputs and tokens with the pieces of the picture in them."""
    ids = row.ids.tolist()
    named = ids.count(token)
    if named > 1:
        raise _named_twice(row.pieces[ids.index(token)], named)
    leading = next((at for at, special in enumerate(row.special) if not special), len(ids))
    start = ids.index(token) if named else leading
    stop = start + named
    require_length(lm, len(ids) - named + count)
    made = np.array([*ids[:start], *[token] * count, *ids[stop:]], dtype=np.int64)
    tensor = torch.from_numpy(made)[None].to(lm.key.device)
    here = (tensor == token).long()
    given = {"input_ids": tensor, "attention_mask": torch.ones_like(tensor)}
    return given | {"mm_token_type_ids": here}, _row_with_pieces(row, made, start, stop, count)


def _named_twice(token: str, count: int) -> BadInput:
    return BadInput(
        f"the text names the picture {count} times, by {token}; name it once, or leave it out",
        code="picture_named_twice",
        token=token,
        found=count,
    )


def with_written(row: Tokens, new: Tokens) -> Tokens:
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


def _row_with_pieces(row: Tokens, ids: np.ndarray, start: int, stop: int, count: int) -> Tokens:
    side = int(np.sqrt(count))
    square = side * side == count
    numbers = tuple(f"[{at}]" for at in range(count))
    labels = images.patch_tokens(count, (side, side)).labels if square else numbers

    def inside(own: tuple, new: tuple) -> tuple:  # type: ignore[type-arg]
        return own[:start] + new + own[stop:]

    nothing = np.zeros(count, dtype=np.bool_)
    return replace(
        row,
        ids=ids,
        pieces=inside(row.pieces, labels),
        labels=inside(row.labels, labels),
        offsets=inside(row.offsets, ((0, 0),) * count),
        special=np.concatenate([row.special[:start], nothing, row.special[stop:]]),
        padding=np.zeros(len(ids), dtype=np.bool_),
    )


def _n_pieces(lm: LoadedModel, pixels: dict[str, Tensor]) -> int:
    """How many pieces the model makes of the picture: it is asked."""
    ask: Callable[..., object] = lm.model.get_image_features  # type: ignore[assignment]
    known = inspect.signature(ask).parameters
    given = {name: of for name, of in pixels.items() if name in known}
    with lm.lock, torch.no_grad():
        found = ask(**given)
    features: Any = getattr(found, "pooler_output", found)
    parts = [features] if isinstance(features, Tensor) else list(features)
    return sum(part.numel() // part.shape[-1] for part in parts)
