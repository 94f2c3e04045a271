"""The plan for a text with a picture, for models that read both.

In: a model and a request with one text and one picture. Out: a `Plan` with the inputs of both. A
model with two towers takes them side by side. One that reads the picture as part of its text has a
token that stands for a patch of it: the model is asked for the number of patches, and as many of
that token are placed behind the tokens that begin a text, or where the text names the picture
itself (Liu et al. 2023, "LLaVA").
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.capture.plan.encoding import NOWHERE, require_length
from attnviz.capture.plan.images import patch_tokens, pixel_inputs
from attnviz.capture.plan.plan import Plan
from attnviz.capture.plan.text import plan_text
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens


def plan_text_image(lm: LoadedModel, request: Request) -> Plan:
    """The plan for a text and a picture.

    Raises `BadInput` for a model that does not read both, for several of either, and for letting a
    model write that has no picture inside its text.
    """
    _require_fits(lm, request)
    pixels = pixel_inputs(lm, request.image)
    token = architecture.picture_token(lm.model)
    n_patch = 0 if token is None else _n_patches(lm, pixels)
    plan = plan_text(lm, request, n_patch)
    ((row,),) = plan.tokens.values()
    inputs = {name: plan.tensor(name) for name in plan.inputs}
    if token is not None:
        inputs, row = _with_patches(lm, row, n_patch, token)
    known = architecture.forward_arguments(lm.model)
    accepted = {name: tensor for name, tensor in (inputs | pixels).items() if name in known}
    return Plan(accepted, {"text": (row,)})


def _require_fits(lm: LoadedModel, request: Request) -> None:
    if lm.kind != "text-image":
        raise BadInput(
            f"{lm.name} is a {lm.kind} model: it does not read text and image together; give"
            " one of them",
            code="not_both",
            name=lm.name,
            kind=lm.kind,
        )
    if request.generation is not None and not lm.card.writes_of_pictures:
        raise BadInput(
            f"{lm.name} cannot generate from a picture here: the picture is not part of its text,"
            " or it generates with its own code",
            code="cannot_write_of_pictures",
            name=lm.name,
        )
    if len(request.text) != 1 or len(request.image) != 1:
        raise BadInput(
            f"text has {len(request.text)} entries and image {len(request.image)}; give one text"
            " with one picture",
            code="one_text_one_picture",
            found=len(request.text),
        )


def require_picture(lm: LoadedModel) -> None:
    """Raise `BadInput` if a model for text and pictures cannot read a text alone."""
    pixels = architecture.forward_arguments(lm.model).get("pixel_values")
    is_needed = pixels is not None and pixels.default is inspect.Parameter.empty
    if lm.kind == "text-image" and (is_needed or architecture.picture_token(lm.model) is None):
        raise BadInput(
            f"{lm.name} reads a text together with a picture: give image= with text=",
            code="one_text_one_picture",
            found=1,
        )


def _with_patches(
    lm: LoadedModel, row: Tokens, n_patch: int, token: int
) -> tuple[dict[str, Tensor | None], Tokens]:
    """The text's inputs and tokens with the patches of the picture among them."""
    ids = row.ids.tolist()
    n_named = ids.count(token)
    if n_named > 1:
        raise BadInput(
            f"the text contains the image token {row.pieces[ids.index(token)]} {n_named} times:"
            " keep one, or leave it out",
            code="picture_named_twice",
            token=row.pieces[ids.index(token)],
            found=n_named,
        )
    first_word = next((at for at, special in enumerate(row.special) if not special), len(ids))
    start = ids.index(token) if n_named else first_word
    gap = slice(start, start + n_named)
    require_length(lm, len(ids) - n_named + n_patch)
    whole = np.array([*ids[:start], *[token] * n_patch, *ids[gap.stop :]], dtype=np.int64)
    tensor = torch.from_numpy(whole)[None].to(lm.key.device)
    inputs: dict[str, Tensor | None] = {
        "input_ids": tensor,
        "attention_mask": torch.ones_like(tensor),
        "mm_token_type_ids": (tensor == token).long(),
    }
    return inputs, _row_with_patches(row, whole, gap, n_patch)


def _row_with_patches(row: Tokens, ids: np.ndarray, gap: slice, n_patch: int) -> Tokens:
    """The tokens of a text with those of a picture in place of `gap`."""
    side = int(np.sqrt(n_patch))
    numbers = tuple(f"[{number}]" for number in range(n_patch))
    labels = patch_tokens(n_patch, (side, side)).labels if side * side == n_patch else numbers

    def filled(values: tuple, patches: tuple) -> tuple:  # type: ignore[type-arg]
        return values[: gap.start] + patches + values[gap.stop :]

    not_special = np.zeros(n_patch, dtype=np.bool_)
    return replace(
        row,
        ids=ids,
        pieces=filled(row.pieces, labels),
        labels=filled(row.labels, labels),
        offsets=filled(row.offsets, (NOWHERE,) * n_patch),
        special=np.concatenate([row.special[: gap.start], not_special, row.special[gap.stop :]]),
        padding=np.zeros(len(ids), dtype=np.bool_),
    )


def _n_patches(lm: LoadedModel, pixels: dict[str, Tensor]) -> int:
    """The number of tokens that the model makes of the picture, counted in its own features."""
    image_features: Callable[..., object] = lm.model.get_image_features  # type: ignore[assignment]
    known = inspect.signature(image_features).parameters
    with lm.lock, torch.no_grad():
        result = image_features(**{name: pixels[name] for name in pixels if name in known})
    features: Any = getattr(result, "pooler_output", result)
    parts = [features] if isinstance(features, Tensor) else list(features)
    return sum(part.numel() // part.shape[-1] for part in parts)
