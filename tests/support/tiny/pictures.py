"""Text with a picture or a sound in it, for models that take both.

How many placeholder tokens a picture needs follows from the model; when the number is wrong it says
so ("tokens: 0, features: 32"), and the inputs are made again with as many. Then the whole model
runs: the tower that sees, what joins it to the text, and the text model.
"""

import re
from collections.abc import Iterator
from typing import Any

import torch
from transformers import PreTrainedModel

from tests.support.tiny.configs import HIDDEN
from tests.support.tiny.inputs import GRID, MAKERS, make_pixels
from tests.support.tiny.reference import Reference, reference
from tests.support.tiny.source import BATCH, TEXT, TEXT_REAL, Inputs, Source, padding, text_ids

MISMATCH = re.compile(r"tokens: ?(\d+),? features:? ?(\d+)")
PLACEHOLDERS = ("image_token_id", "image_token_index", "image_patch_id", "video_token_id")
SOUND_PLACEHOLDERS = ("audio_token_id", "audio_token_index")


def read_pictures(eager: PreTrainedModel) -> tuple[Inputs, Reference]:
    """Inputs with a picture (or a sound) that the model runs on, and what it attends to then."""
    reasons = []
    for extra, names in _extras(Source(eager, torch.Generator().manual_seed(5))):
        source = Source(eager, torch.Generator().manual_seed(5))
        token = source.find(*names)
        if not isinstance(token, int):
            continue
        counts = [0]
        for count in counts:
            inputs = _inputs(source, extra, token, count)
            try:
                return inputs, reference(eager, inputs)
            except Exception as error:  # the wrong number of placeholders, or the wrong pictures
                found = MISMATCH.search(" ".join(str(error).split()))
                reasons.append(str(error)[:90])
                if found and len(counts) == 1:  # some count the numbers in all features
                    counts += [int(found[2]) // BATCH // size for size in (1, HIDDEN)]
    raise ValueError(" | ".join(dict.fromkeys(reasons)) or "no picture that it takes")


def _inputs(source: Source, extra: Inputs, token: int, count: int) -> Inputs:
    ids = torch.cat([torch.full((BATCH, count), token), text_ids(source)], 1)
    inputs = {"input_ids": ids, "attention_mask": padding(TEXT + count, TEXT_REAL + count)}
    if "mm_token_type_ids" in source.parameters:
        inputs["mm_token_type_ids"] = (ids == token).long()
    return inputs | extra


def _extras(source: Source) -> Iterator[tuple[Inputs, tuple[str, ...]]]:
    """Pictures in the layouts that models take, then sounds."""
    takes = source.parameters
    if "pixel_values" in takes:
        pixels = make_pixels(source)
        sizes = torch.tensor([list(pixels.shape[-2:])] * BATCH)
        if "image_grid_thw" in takes:
            patches = source.normal(int(GRID.prod(1).sum()), source.patch_dim or 1176)
            grids = torch.tensor([[1, 4, 4], [1, 4, 4]])
            yield {"pixel_values": patches[:32], "image_grid_thw": grids}, PLACEHOLDERS
        tiles = torch.stack([pixels, pixels.flip(-1), pixels.flip(-2)], 1)
        for shaped in (pixels, pixels.unsqueeze(1), tiles):
            yield {"pixel_values": shaped}, PLACEHOLDERS
            if "image_sizes" in takes:
                yield {"pixel_values": shaped, "image_sizes": sizes}, PLACEHOLDERS
    for name in ("input_features", "input_values"):
        for make in MAKERS[name] if name in takes else ():
            features: dict[str, Any] = {name: make(source)}
            yield features, SOUND_PLACEHOLDERS
            if "input_features_mask" in takes:
                frames = max(features[name].shape[1:])
                yield features | {"input_features_mask": padding(frames, 56)}, SOUND_PLACEHOLDERS
