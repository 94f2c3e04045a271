"""The plan for pictures: pixel values, and the patches as tokens.

In: a model and pictures in RGB. Out: what the model's own processor makes of them, and one token
for each patch, named by its row and column in the grid. Tokens beside the patches ([CLS],
registers) come first, as in Dosovitskiy et al. 2020.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from attnviz.capture.arguments import Picture, as_pictures
from attnviz.capture.plan.plan import Plan
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens, named_tokens


def plan_image(lm: LoadedModel, request: Request) -> Plan:
    """The plan for a request's pictures; raises `BadInput` for a model that reads none, or a text
    with them."""
    inputs = pixel_inputs(lm, request.image)
    if lm.kind == "text-image":
        raise BadInput(
            f"{lm.name} reads a picture together with a text: give text= with image=",
            code="one_text_one_picture",
            found=0,
        )
    return Plan(inputs)


def pixel_inputs(lm: LoadedModel, pictures: Sequence[Image.Image]) -> dict[str, Tensor]:
    """The result of the model's processor for pictures, on the model's device.

    Raises `BadInput` for a model without an image processor.
    """
    processor = lm.processor
    if processor is None or not callable(processor) or lm.kind == "speech":
        raise BadInput(
            f"{lm.name} is a {lm.kind} model without an image processor: it takes no picture",
            code="no_image_processor",
            name=lm.name,
            kind=lm.kind,
        )
    features = processor(images=list(pictures), return_tensors="pt")
    return {
        name: values.to(lm.key.device)
        for name, values in features.items()
        if isinstance(values, Tensor)
    }


def seen_picture(
    lm: LoadedModel, image: Picture | Sequence[Picture]
) -> UInt8[np.ndarray, "row column rgb"] | None:
    """The picture as the model sees it: cropped and resized by its processor, in RGB again.

    None if the processor makes rows of patches of it.
    """
    pixel_values = pixel_inputs(lm, as_pictures(image))["pixel_values"]
    if pixel_values.dim() != 4:
        return None
    pixels = np.moveaxis(pixel_values[0].float().cpu().numpy(), 0, -1)
    processor = lm.processor
    if getattr(processor, "do_normalize", False):
        mean, std = (np.array(getattr(processor, name)) for name in ("image_mean", "image_std"))
        pixels = pixels * std + mean
    rescales = getattr(processor, "do_rescale", False)
    scale = getattr(processor, "rescale_factor", 1.0) if rescales else 1.0
    return np.clip(np.rint(pixels / scale), 0, 255).astype(np.uint8)


def patch_grid(pixels: UInt8[np.ndarray, "..."] | Tensor, patch: int) -> tuple[int, int]:
    """(rows, columns) of patches, `patch` pixels wide, in pixels [batch, channel, row, column]."""
    return pixels.shape[-2] // patch, pixels.shape[-1] // patch


def fitting_grid(n_token: int, grid: tuple[int, int] | None) -> tuple[int, int]:
    """The grid that the tokens of a picture form.

    If no grid is known, or it has more cells than there are tokens (patches were merged), the
    largest square that fits is taken.
    """
    if grid is not None and grid[0] * grid[1] <= n_token:
        return grid
    side = math.isqrt(n_token)
    return side, side


def patch_tokens(n_token: int, grid: tuple[int, int]) -> Tokens:
    """The tokens of a picture whose patches form `grid`, with the other tokens before them."""
    n_patch = grid[0] * grid[1]
    n_extra = n_token - n_patch
    extra = ["[CLS]", *(f"[REG{number}]" for number in range(1, n_extra))][:n_extra]
    labels = (*extra, *(f"r{row}c{column}" for row in range(grid[0]) for column in range(grid[1])))
    return named_tokens(labels, n_extra)
