"""Inputs of the parts of models that have a config of their own: encoders, decoders, adapters.

A part takes what another part gives it: hidden states, features of a picture or of a sound, and
the sizes of these. `special_inputs` has those of whole models.
"""

from collections.abc import Callable
from typing import Any

import torch

from tests.support.tiny.source import (
    BATCH,
    TARGET,
    TARGET_REAL,
    TEXT,
    TEXT_REAL,
    Inputs,
    Source,
    padding,
    text_ids,
)

ROWS, COLUMNS = 4, 6
FRAMES = 200


def hidden(source: Source, length: int = TEXT, width: int | None = None) -> torch.Tensor:
    """Hidden states [batch, token, width]."""
    return source.normal(BATCH, length, width or source.find("hidden_size", "d_model"))


def embedded(source: Source) -> Inputs:
    """Text that was embedded before."""
    return {"inputs_embeds": hidden(source), "attention_mask": padding(TEXT, TEXT_REAL)}


def states(name: str, width: str, mask: str | None = None) -> Callable[[Source], Inputs]:
    """Hidden states under a name, as wide as a field of the config says."""

    def make(source: Source) -> Inputs:
        inputs: Inputs = {name: hidden(source, width=source.find(width))}
        return inputs | ({mask: padding(TEXT, TEXT_REAL)} if mask else {})

    return make


def bytes_read(source: Source) -> Inputs:
    """The bytes of a text, and the patch that each belongs to."""
    patches = (torch.arange(TEXT) // 3).expand(BATCH, -1)
    return {
        "input_ids": text_ids(source),
        "patch_ids": patches,
        "num_patches": int(patches.max()) + 1,
        "encoder_attention_mask": _own_patch(source, patches),
        "attention_mask": _causal(TEXT),
    }


def _causal(length: int) -> torch.Tensor:
    """A mask [batch, 1, query, key] to add, ready-made."""
    lowest = torch.finfo(torch.float32).min
    return torch.full((length, length), lowest).triu(1).expand(BATCH, 1, -1, -1)


def _own_patch(source: Source, patches: torch.Tensor) -> torch.Tensor:
    """A mask [batch, 1, patch rows, byte]: each patch sees its own bytes."""
    n_patches, ways = int(patches.max()) + 1, source.find("cross_attn_k")
    belongs = patches[:, None] == torch.arange(n_patches)[:, None]
    lowest = torch.finfo(torch.float32).min
    return torch.where(belongs, 0.0, lowest).repeat_interleave(ways, 1)[:, None]


def bytes_written(source: Source) -> Inputs:
    """Embedded bytes, and the patches that they are written from."""
    patches = (torch.arange(TEXT) // 3).expand(BATCH, -1)
    return {
        "inputs_embeds": hidden(source),
        "patch_embeds": hidden(source, int(patches.max()) + 1),
        "encoder_attention_mask": _own_patch(source, patches).mT.contiguous(),
        "attention_mask": _causal(TEXT),
    }


def codes(source: Source) -> Inputs:
    """Codes of a sound with one column for each codebook, and what they are spoken from."""
    return {
        "input_ids": source.integers(4, 100, BATCH, TARGET, source.find("num_channels")),
        "encoder_hidden_states": hidden(source, TEXT, source.find("cross_hidden_size")),
        "attention_mask": padding(TARGET, TARGET_REAL),
    }


def depth_codes(source: Source) -> Inputs:
    n_codes = source.find("num_codebooks")
    return {
        "input_ids": source.integers(4, 100, BATCH, n_codes),
        "last_hidden_state": source.normal(BATCH, 1, source.find("input_size")),
        "attention_mask": torch.ones(BATCH, n_codes, dtype=torch.bool),
    }


def patches_of_grid(source: Source) -> Inputs:
    """The patches of two pictures in one row of [patch, channel, row, column]."""
    grid = torch.tensor([[1, 4, 4], [1, 4, 6]])
    size = source.find("patch_size")
    return {"pixel_values": source.normal(int(grid.prod(1).sum()), 3, size, size), "grid_thw": grid}


def one_row_of_patches(source: Source) -> Inputs:
    inputs = patches_of_grid(source)
    return inputs | {"pixel_values": inputs["pixel_values"][None]}


def merged_patches(source: Source) -> Inputs:
    """Flat patches of two frames each."""
    grid = torch.tensor([[1, 4, 4], [1, 4, 6]])
    width = 3 * source.find("temporal_patch_size") * source.find("patch_size") ** 2
    return {"pixel_values": source.normal(int(grid.prod(1).sum()), width), "grid_thw": grid}


def flat_pictures(source: Source) -> Inputs:
    pixels = source.normal(BATCH, 9, source.patch_dim or 64)
    places = torch.stack([torch.arange(9) // 3, torch.arange(9) % 3], -1) + 1
    return {
        "flattened_patches": torch.cat([places.expand(BATCH, -1, -1), pixels], -1),
        "attention_mask": padding(9, 6),
    }


def square_pictures(multiple: int) -> Callable[[Source], Inputs]:
    """Pictures whose sides are a multiple of the patches'."""

    def make(source: Source) -> Inputs:
        size = source.find("patch_size", below="vision") * multiple
        return {"pixel_values": source.normal(BATCH, 3, size, size)}

    return make


def tiles(source: Source) -> Inputs:
    """Pictures in tiles, the second of fewer."""
    size, n_tiles = source.find("image_size"), source.find("max_num_tiles")
    mask = torch.ones(BATCH, 1, n_tiles, dtype=torch.long)
    mask[1, :, 1:] = 0
    return {
        "pixel_values": source.normal(BATCH, 1, n_tiles, 3, size, size),
        "aspect_ratio_ids": torch.tensor([[6], [1]]),
        "aspect_ratio_mask": mask,
    }


def frames(source: Source) -> Inputs:
    size = source.find("image_size")
    return {"pixel_values": source.normal(source.find("num_frames"), 3, size, size)}


def mel_of_lengths(source: Source) -> Inputs:
    """Two sounds one after the other, [mel, frame], and their lengths."""
    lengths = torch.tensor([FRAMES, FRAMES // 2])
    inputs: Inputs = {"input_features": source.normal(128, int(lengths.sum()))}
    inputs["feature_lens"] = lengths
    if "aftercnn_lens" in source.parameters:
        inputs["aftercnn_lens"] = (lengths - 1) // 2 + 1
    return inputs


def mel_with_mask(source: Source) -> Inputs:
    return {
        "input_features": source.normal(BATCH, 128, FRAMES),
        "input_features_mask": padding(FRAMES, FRAMES // 2),
    }


def feature_maps(source: Source) -> Inputs:
    """One map of a picture's features, and a text."""
    width = source.find("hidden_size")
    return {
        "vision_features": [source.normal(BATCH, width, ROWS, COLUMNS)],
        "vision_pos_embeds": [source.normal(BATCH, width, ROWS, COLUMNS)],
        "text_features": hidden(source),
        "text_mask": padding(TEXT, TEXT_REAL).bool(),
    }


def objects_asked(source: Source) -> Inputs:
    n_places = ROWS * COLUMNS
    return {
        "vision_features": hidden(source, n_places),
        "vision_pos_encoding": hidden(source, n_places),
        "text_features": hidden(source),
        "text_mask": padding(TEXT, TEXT_REAL).bool(),
        "spatial_shapes": torch.tensor([[ROWS, COLUMNS]]),
    }


def masks_asked(source: Source) -> Inputs:
    """Queries for masks, a picture's features in three sizes, and a prompt."""
    width, n_maps = source.find("hidden_size"), source.find("num_upsampling_stages")
    sizes = [(ROWS * 2**n, COLUMNS * 2**n) for n in reversed(range(n_maps))]
    return {
        "decoder_queries": hidden(source, 7),
        "backbone_features": [source.normal(BATCH, width, *size) for size in sizes],
        "encoder_hidden_states": hidden(source, ROWS * COLUMNS),
        "prompt_features": hidden(source),
        "prompt_mask": padding(TEXT, TEXT_REAL).bool(),
    }


def noise_in_context(source: Source) -> Inputs:
    n_layers = len(source.find("target_layer_ids"))
    width = source.find("hidden_size")
    return {
        "noise_embeds": hidden(source, source.find("block_size")),
        "context_hidden_states": hidden(source, TEXT, n_layers * width),
    }


def pooled_patches(source: Source) -> Inputs:
    """The features of two crops, and the four patches that each token is made of."""
    width = source.find("hidden_size") * len(source.find("vision_feature_layer"))
    return {
        "image_features": source.normal(BATCH, 16, width),
        "pooled_patches_idx": torch.arange(BATCH * 16).reshape(-1, 4),
    }


def whole_patches(source: Source) -> Inputs:
    """All patches of a picture as rows of numbers."""
    n_patches, width = source.find("num_position_embeddings"), 3 * source.find("patch_size") ** 2
    return {"pixel_values": source.normal(BATCH, n_patches, width)}


def timed(source: Source) -> Inputs:
    """Text that was embedded before, and the time that conditions it."""
    return embedded(source) | {"t_cond": source.normal(1, 1, source.find("hidden_size"))}


PART_INPUTS: dict[str, Callable[[Source], Any]] = {
    "blt_local_encoder": bytes_read,
    "blt_local_decoder": bytes_written,
    "deepseek_ocr2_encoder": lambda source: {
        "inputs_embeds": hidden(source, 16),
        "num_patches": 16,
    },
    "dia_decoder": codes,
    "flava_multimodal_model": states("hidden_states", "hidden_size"),
    "florence_vision": lambda source: {"hidden_states": source.normal(BATCH, 3, 64, 64)},
    "granite_speech_encoder": states("hidden_states", "input_dim"),
    "granite_speech_plus_encoder": states("hidden_states", "input_dim"),
    "idefics2_perceiver": states("context", "hidden_size", "attention_mask"),
    "kimi_k25_vision": patches_of_grid,
    "kosmos_2_5_vision_model": flat_pictures,
    "llama4_vision_model": square_pictures(4),
    "minimax_m3_vl_vision": merged_patches,
    "mllama_vision_model": tiles,
    "moshi_depth": depth_codes,
    "muse_glimmer_assistant": noise_in_context,
    "paddleocr_vl_vision": one_row_of_patches,
    "phi4_multimodal_audio": lambda source: {
        "hidden_states": source.normal(BATCH, FRAMES, 80),
        "mask": padding(FRAMES, FRAMES // 2).bool(),
    },
    "qwen2_5_omni_audio_encoder": mel_of_lengths,
    "qwen3_omni_moe_audio_encoder": mel_of_lengths,
    "qwen3_asr_encoder": mel_with_mask,
    "qwen3_omni_moe_talker_code_predictor": embedded,
    "qwen3_omni_moe_talker_text": embedded,
    "sam3_detr_encoder": feature_maps,
    "sam3_lite_text_detr_encoder": feature_maps,
    "sam3_detr_decoder": objects_asked,
    "sam3_lite_text_detr_decoder": objects_asked,
    "sam3_mask_decoder": masks_asked,
    "sam3_lite_text_mask_decoder": masks_asked,
    "unlimited_ocr_vision_encoder": lambda source: {
        "patch_embeds": source.normal(BATCH, source.find("hidden_size"), 4, 4)
    },
    "xclip_vision_model": frames,
    "molmo2_adapter": pooled_patches,
    "molmo2_vision": whole_patches,
    "voxtral_realtime_text": timed,
    "dots3_note_audio_encoder": lambda source: {
        "input_features": source.normal(BATCH, 128, FRAMES),
        "chunk_sample_lengths": torch.tensor([160 * FRAMES, 80 * FRAMES]),
    },
    "pp_ocrv5_mobile_rec": lambda source: {"pixel_values": source.normal(BATCH, 3, 96, 320)},
}
