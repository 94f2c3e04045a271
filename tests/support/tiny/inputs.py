"""Inputs for any model: what its forward asks for, in shapes that its config tells.

A batch of two; where a model takes an attention mask, the second row is padded on the right.
`candidates` gives several sets, the smallest first: a caller takes the first that the model runs
with. Types whose inputs follow from no rule have a builder of their own, in `special_inputs.INPUTS`
or `part_inputs.PART_INPUTS`.
"""

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from tests.support.tiny.part_inputs import PART_INPUTS
from tests.support.tiny.source import (
    BATCH,
    FRAMES,
    FRAMES_REAL,
    SAMPLES,
    SAMPLES_REAL,
    TARGET,
    TARGET_REAL,
    TEXT,
    TEXT_REAL,
    Inputs,
    Source,
    padding,
    text_ids,
)
from tests.support.tiny.special_inputs import INPUTS


def make_pixels(source: Source) -> Tensor:
    """A batch of pictures [batch, channel, row, column]."""
    size = source.find("image_size", "img_size", "input_size", default=64, below="vision")
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    if height > 640:
        height = width = 64
    channels = source.find("num_channels", "in_channels", "in_chans", default=3, below="vision")
    channels = channels if isinstance(channels, int) else 3
    return source.normal(BATCH, channels, height, width)


def _pair(source: Source) -> Tensor:
    pixels = make_pixels(source)
    return torch.stack([pixels, pixels.flip(-1)], 1)


def _video(source: Source) -> Tensor:
    frames = source.find("num_frames", "frames_per_clip", default=4, below="vision")
    pixels = make_pixels(source)
    return source.normal(BATCH, frames, *pixels.shape[1:])


def _patch_dim(source: Source) -> int:
    if source.patch_dim:
        return source.patch_dim
    patch = source.find("patch_size", default=16, below="vision")
    height, width = (patch[-2:] * 2)[:2] if isinstance(patch, (list, tuple)) else (patch, patch)
    return 3 * height * width


def _mels(source: Source) -> int:
    names = ("num_mel_bins", "feature_projection_input_dim", "input_feat_per_channel")
    names += ("input_feat_size", "n_mels", "mel_bins", "input_dim", "feature_size", "input_size")
    return source.find(*names, default=80, below="audio")


def _frames(source: Source) -> int:
    positions = source.find("max_source_positions", below="audio")
    return 2 * positions if isinstance(positions, int) and positions <= 64 else FRAMES


def _boxes(source: Source) -> Tensor:
    low = source.integers(0, 400, BATCH, TEXT, 2)
    width = source.find("dim_bbox", default=4)
    boxes = torch.cat([low, low + 50], -1)
    return boxes.float().repeat(1, 1, 2) / 1000 if width == 8 else boxes


GRID = torch.tensor([[1, 4, 4], [1, 4, 8]])

# One or more ways to make each argument; several are tried in turn.
MAKERS: dict[str, tuple[Callable[[Source], Any], ...]] = {
    "input_ids": (text_ids,),
    "attention_mask": (lambda source: padding(TEXT, TEXT_REAL),),
    "decoder_input_ids": (lambda source: text_ids(source, TARGET, TARGET_REAL),),
    "decoder_attention_mask": (lambda source: padding(TARGET, TARGET_REAL),),
    "pixel_values": (
        make_pixels,
        _video,
        lambda source: source.normal(BATCH, 16, _patch_dim(source)),
        lambda source: make_pixels(source).unsqueeze(1),
        _pair,
        lambda source: source.normal(int(GRID.prod(1).sum()), _patch_dim(source)),
    ),
    "pixel_values_videos": (_video,),
    "hidden_states": (lambda source: source.normal(int(GRID.prod(1).sum()), _patch_dim(source)),),
    "grid_thw": (lambda source: GRID,),
    "image_grid_thw": (lambda source: GRID,),
    "input_values": (
        lambda source: source.normal(BATCH, SAMPLES),
        lambda source: source.normal(BATCH, 1, SAMPLES),
        lambda source: source.normal(BATCH, source.find("max_length", default=64), _mels(source)),
    ),
    "input_features": (
        lambda source: source.normal(BATCH, _mels(source), _frames(source)),
        lambda source: source.normal(BATCH, _frames(source), _mels(source)),
        lambda source: source.normal(BATCH, 1, _frames(source), _mels(source)),
    ),
    "input_features_mask": (lambda source: padding(_frames(source), FRAMES_REAL),),
    "inputs_embeds": (lambda source: source.normal(BATCH, TEXT, source.find("hidden_size")),),
    "encoder_hidden_states": (
        lambda source: source.normal(
            BATCH, 13, source.find("encoder_hidden_size", "cross_hidden_size", "hidden_size")
        ),
    ),
    "bbox": (_boxes,),
    "pixel_attention_mask": (lambda source: torch.ones(BATCH, 16, dtype=torch.long),),
    "spatial_shapes": (lambda source: torch.tensor([[4, 4]] * BATCH),),
    "query_embeds": (lambda source: source.normal(BATCH, 5, source.find("hidden_size")),),
    "latents": (lambda source: source.normal(BATCH, source.find("hidden_size"), 16),),
}
PICTURES = ("pixel_values", "pixel_values_videos")
SOUNDS = ("input_values", "input_features", "input_features_mask")


def candidates(model_type: str, model: PreTrainedModel) -> Iterator[Inputs]:
    """Sets of inputs for this model, the least first."""
    source = Source(model, torch.Generator().manual_seed(5))
    special = INPUTS | PART_INPUTS
    if model_type in special:
        yield special[model_type](source)
        return
    seen: set[tuple[str, ...]] = set()
    for names in _name_sets(source):
        known = tuple(name for name in names if name in MAKERS)
        if known in seen:
            continue
        seen.add(known)
        for makers in itertools.product(*(MAKERS[name] for name in known)):
            try:
                inputs = {name: make(source) for name, make in zip(known, makers, strict=True)}
            except (TypeError, RuntimeError):  # this config says nothing about such an input
                continue
            yield from _with_masks(source, inputs)


def first_fitting(model_type: str, model: PreTrainedModel) -> Inputs:
    """One row of the first inputs that the model takes, without padding."""
    for inputs in candidates(model_type, model):
        row = {
            name: value[:1] if isinstance(value, Tensor) else value
            for name, value in inputs.items()
            if not name.endswith("attention_mask")
        }
        try:
            with torch.no_grad():
                model(**row)
        except Exception:  # these inputs are not what the model wants
            continue
        return row
    raise AssertionError("no inputs fit")


def _name_sets(source: Source) -> Iterator[list[str]]:
    parameters = source.parameters
    main = getattr(source.model, "main_input_name", "input_ids")
    optional = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    required = [
        name
        for name, one in parameters.items()
        if one.default is one.empty and one.kind not in optional and name != "self"
    ]
    base = list(dict.fromkeys([main, *required])) if isinstance(main, str) else required
    base = [name for name in base if name in parameters]
    if "decoder_input_ids" in parameters:
        base += ["decoder_input_ids", "decoder_attention_mask"]
    extra = [name for name in (*PICTURES, *SOUNDS) if name in parameters and name not in base]
    yield [name for name in base if name in parameters]
    for name in extra:
        yield [*base, name]
    if "encoder_hidden_states" in parameters and "encoder_hidden_states" not in base:
        yield [*base, "encoder_hidden_states"]
    plain = [name for name in base if not name.startswith("decoder_")]
    yield plain
    yield from ([*plain, name] for name in extra)
    if "input_ids" in parameters and "input_ids" not in base:
        yield [*base, "input_ids"]
        yield ["input_ids", *(name for name in base if name not in PICTURES)]
    yield [name for name in MAKERS if name in parameters and name != "inputs_embeds"]


def _with_masks(source: Source, inputs: Inputs) -> Iterator[Inputs]:
    """The inputs with an attention mask where the model takes one, and without."""
    if "attention_mask" in source.parameters and "attention_mask" not in inputs:
        length = next(
            (
                (value.shape[1], real)
                for name, real in (("input_ids", TEXT_REAL), ("input_values", SAMPLES_REAL))
                if isinstance(value := inputs.get(name), Tensor) and value.dim() == 2
            ),
            None,
        )
        if length is None and "input_features" in inputs:
            length = (max(inputs["input_features"].shape[1:]), FRAMES_REAL)
        if length is not None:
            yield inputs | {"attention_mask": padding(*length)}
    yield inputs
    if "use_cache" in source.parameters:
        yield inputs | {"use_cache": False}
