"""Pictures as input: from an image to pixel values, and the patches as tokens.

In: a picture, as `PIL.Image` or as an array [row, column, 3], or several as one batch. Out: what
the model's own processor makes of them, and one token per patch, named by its row and column in
the grid. Tokens beside the patches ([CLS], registers) come first, as in Dosovitskiy et al. 2020.
"""

import math

import numpy as np
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor
from transformers import BatchFeature

from attnviz.errors import BadInput
from attnviz.models.loaded import LoadedModel
from attnviz.types import Tokens, named_tokens

MODES = ("RGB", "RGBA", "L", "P", "1", "LA", "CMYK")


def pixel_inputs(lm: LoadedModel, image: object) -> dict[str, Tensor]:
    """What the model's processor makes of one picture or several; `BadInput` when it is none."""
    processor = lm.processor
    if processor is None or not callable(processor):
        raise BadInput(
            f"{lm.name} is a {lm.kind} model without an image processor: it takes no picture",
            code="no_image_processor",
            name=lm.name,
            kind=lm.kind,
        )
    several = isinstance(image, list | tuple) and len(image) > 0
    pictures = [as_picture(each) for each in image] if several else as_picture(image)  # type: ignore[attr-defined]
    made: BatchFeature = processor(images=pictures, return_tensors="pt")
    return {name: of.to(lm.key.device) for name, of in made.items() if isinstance(of, Tensor)}


def seen(lm: LoadedModel, image: object) -> UInt8[np.ndarray, "row column rgb"] | None:
    """What the model sees of a picture: cropped and resized by its processor, in RGB again.

    None where that is several pictures, or rows of patches."""
    made = pixel_inputs(lm, image)["pixel_values"]
    if made.dim() != 4:
        return None
    pixels = made[0].float().cpu().numpy()
    shown = np.moveaxis(pixels, 0, -1)
    processor = lm.processor
    if getattr(processor, "do_normalize", False):
        mean, std = (np.array(getattr(processor, name)) for name in ("image_mean", "image_std"))
        shown = shown * std + mean
    scale = processor.rescale_factor if getattr(processor, "do_rescale", False) else 1.0  # type: ignore[attr-defined]
    return np.clip(np.rint(shown / scale), 0, 255).astype(np.uint8)


def as_picture(image: object) -> Image.Image:
    """A picture in RGB, from a `PIL.Image` or an array of bytes [row, column] or [.., 3]."""
    if isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim in (2, 3):
        image = Image.fromarray(image)
    if not isinstance(image, Image.Image) or image.mode not in MODES:
        raise BadInput(
            f"image is {type(image).__name__}; give a PIL.Image or an array of bytes"
            " [row, column, 3]",
            code="not_an_image",
            found=type(image).__name__,
        )
    return image.convert("RGB")


def patch_grid(pixels: UInt8[np.ndarray, "..."] | Tensor, patch: int) -> tuple[int, int]:
    """(rows, columns) of patches in pixel values [batch, channel, row, column]."""
    return pixels.shape[-2] // patch, pixels.shape[-1] // patch


def fitting_grid(n_token: int, grid: tuple[int, int] | None) -> tuple[int, int]:
    """The grid that the tokens of a picture form.

    Without a known grid, or one with more cells than there are tokens (patches were merged), the
    largest square that fits is taken.
    """
    if grid is not None and grid[0] * grid[1] <= n_token:
        return grid
    side = math.isqrt(n_token)
    return side, side


def patch_tokens(n_token: int, grid: tuple[int, int]) -> Tokens:
    """The tokens of a picture whose patches form `grid`; others stand before them."""
    n_patch = grid[0] * grid[1]
    n_extra = n_token - n_patch
    extra = ["[CLS]", *(f"[REG{number}]" for number in range(1, n_extra))][:n_extra]
    labels = (*extra, *(f"r{row}c{column}" for row in range(grid[0]) for column in range(grid[1])))
    return named_tokens(labels, n_extra)
