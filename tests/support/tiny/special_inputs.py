"""Inputs of model types that no general rule covers: one small builder for each."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

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

SPEECH_FRAMES = 80


def text(source: Source) -> Inputs:
    """Token ids and their mask."""
    return {"input_ids": text_ids(source), "attention_mask": padding(TEXT, TEXT_REAL)}


def target(source: Source) -> Inputs:
    """Token ids and mask of a decoder."""
    ids = text_ids(source, TARGET, TARGET_REAL)
    return {"decoder_input_ids": ids, "decoder_attention_mask": padding(TARGET, TARGET_REAL)}


def picture(source: Source, size: int | None = None) -> Tensor:
    """A batch of square pictures."""
    size = size or source.find("image_size", default=64, below="vision")
    return source.normal(BATCH, source.find("num_channels", default=3, below="vision"), size, size)


def with_image_tokens(source: Source, ids: Tensor, token: int, count: int) -> Tensor:
    """The ids with `count` placeholders for picture features put in front of each row."""
    return torch.cat([torch.full((BATCH, count), token), ids], 1)


def series(source: Source) -> Inputs:
    """A past with lags, a future, one time feature."""
    past = source.find("context_length") + max(source.find("lags_sequence"))
    future = source.find("prediction_length")
    return {
        "past_values": source.normal(BATCH, past),
        "past_time_features": source.normal(BATCH, past, 1),
        "past_observed_mask": torch.ones(BATCH, past),
        "future_values": source.normal(BATCH, future),
        "future_time_features": source.normal(BATCH, future, 1),
    }


def channels(source: Source) -> Inputs:
    """A multivariate series."""
    shape = (BATCH, source.find("context_length"), source.find("num_input_channels"))
    return {"past_values": source.normal(*shape)}


def timesfm(source: Source) -> Inputs:
    return {
        "past_values": source.normal(BATCH, 128),
        "past_values_padding": torch.zeros(BATCH, 128, dtype=torch.long),
        "freq": torch.zeros(BATCH, 1, dtype=torch.long),
    }


def decisions(source: Source) -> Inputs:
    n_steps = 5
    return {
        "states": source.normal(BATCH, n_steps, source.find("state_dim")),
        "actions": source.normal(BATCH, n_steps, source.find("act_dim")),
        "rewards": source.normal(BATCH, n_steps, 1),
        "returns_to_go": source.normal(BATCH, n_steps, 1),
        "timesteps": torch.arange(n_steps).expand(BATCH, -1),
        "attention_mask": padding(n_steps, 3),
    }


def lxmert(source: Source) -> Inputs:
    return text(source) | {
        "visual_feats": source.normal(BATCH, 5, source.find("visual_feat_dim")),
        "visual_pos": source.normal(BATCH, 5, 4),
    }


def kosmos2(source: Source) -> Inputs:
    count = source.find("latent_query_num")
    ids = with_image_tokens(source, text_ids(source), 9, count)
    place = torch.zeros_like(ids)
    place[:, :count] = 1
    return {
        "pixel_values": picture(source),
        "input_ids": ids,
        "image_embeds_position_mask": place,
        "attention_mask": padding(TEXT + count, TEXT_REAL + count),
    }


def codebooks(source: Source) -> Inputs:
    """One sequence of codes for each codebook, stacked in the batch."""
    count = source.find("num_codebooks")
    ids = source.integers(4, 100, BATCH * count, TARGET)
    return {"input_ids": ids, "attention_mask": padding(TARGET, TARGET_REAL)}


def music(source: Source) -> Inputs:
    count = source.find("num_codebooks")
    return text(source) | {"decoder_input_ids": source.integers(4, 100, BATCH * count, TARGET)}


def code_frames(source: Source) -> Inputs:
    """Token ids with one more axis: the codebooks of each frame."""
    ids = source.integers(4, 100, BATCH, TEXT, source.find("num_codebooks") + 1)
    return {"input_ids": ids, "attention_mask": padding(TEXT, TEXT_REAL)}


def dia(source: Source) -> Inputs:
    n_channels = source.find("num_channels")
    return text(source) | {"decoder_input_ids": source.integers(4, 100, BATCH, TARGET, n_channels)}


def flat_patches(source: Source) -> Inputs:
    """Rows of (row, column, pixels), as pix2struct reads them."""
    pixels = source.normal(BATCH, 9, source.find("patch_embed_hidden_size", default=768) + 2)
    pixels[..., :2] = torch.stack([torch.arange(9) // 3, torch.arange(9) % 3], -1) + 1
    return {"flattened_patches": pixels, "attention_mask": padding(9, 6)}


def idefics(source: Source) -> Inputs:
    shown = torch.ones(BATCH, TEXT, 1, dtype=torch.long)
    pixels = picture(source).unsqueeze(1)
    return text(source) | {"pixel_values": pixels, "image_attention_mask": shown}


def blip2(source: Source) -> Inputs:
    count = source.find("num_query_tokens")
    ids = with_image_tokens(source, text_ids(source), source.find("image_token_index"), count)
    mask = padding(TEXT + count, TEXT_REAL + count)
    return {"pixel_values": picture(source), "input_ids": ids, "attention_mask": mask}


def instructblip(source: Source) -> Inputs:
    asked = {"qformer_input_ids": text_ids(source), "qformer_attention_mask": padding(TEXT, 8)}
    return blip2(source) | asked


def instructblip_video(source: Source) -> Inputs:
    count = 4 * source.find("num_query_tokens")
    ids = with_image_tokens(source, text_ids(source), source.find("video_token_index"), count)
    pixels = source.normal(BATCH, 4, 3, *[source.find("image_size", below="vision")] * 2)
    mask = padding(TEXT + count, TEXT_REAL + count)
    asked = {"qformer_input_ids": text_ids(source), "qformer_attention_mask": padding(TEXT, 8)}
    return {"pixel_values": pixels, "input_ids": ids, "attention_mask": mask} | asked


def seggpt(source: Source) -> Inputs:
    height, width = (source.find("image_size") * 2)[:2]
    pixels = source.normal(BATCH, 3, height // 2, width)
    return {"pixel_values": pixels, "prompt_pixel_values": pixels, "prompt_masks": pixels}


def omdet(source: Source) -> Inputs:
    classes = source.integers(4, 99, 5, 6)
    return {
        "pixel_values": picture(source),
        "classes_input_ids": classes,
        "classes_attention_mask": torch.ones_like(classes),
        "tasks_input_ids": source.integers(4, 99, BATCH, 6),
        "tasks_attention_mask": torch.ones(BATCH, 6, dtype=torch.long),
        "classes_structure": torch.tensor([2, 3]),
    }


def oneformer(source: Source) -> Inputs:
    tasks = source.integers(4, 99, BATCH, source.find("task_seq_len")).float()
    return {"pixel_values": picture(source, 128), "task_inputs": tasks}


def speecht5(source: Source) -> Inputs:
    hidden = source.find("hidden_size")
    return {
        "input_values": source.normal(BATCH, TEXT, hidden),
        "attention_mask": padding(TEXT, TEXT_REAL),
        "decoder_input_values": source.normal(BATCH, TARGET, hidden),
        "decoder_attention_mask": padding(TARGET, TARGET_REAL),
    }


def perceiver(source: Source) -> Inputs:
    inputs = source.normal(BATCH, TEXT, source.find("d_model"))
    return {"inputs": inputs, "attention_mask": padding(TEXT, TEXT_REAL)}


def mel_frames(width: int, mask: str | None = None) -> Callable[[Source], Inputs]:
    """Speech features [batch, frame, width], the second row padded."""

    def make(source: Source) -> Inputs:
        inputs: Inputs = {"input_features": source.normal(BATCH, SPEECH_FRAMES, width)}
        return inputs | ({mask: padding(SPEECH_FRAMES, 56)} if mask else {})

    return make


def gemma_patches(source: Source) -> Inputs:
    places = torch.stack([torch.arange(16) // 4, torch.arange(16) % 4], -1)
    pixels = source.normal(BATCH, 16, source.patch_dim or 768)
    return {"pixel_values": pixels, "pixel_position_ids": places.expand(BATCH, -1, -1)}


def gemma_audio(source: Source) -> Inputs:
    mels = source.normal(BATCH, SPEECH_FRAMES, source.find("input_feat_size"))
    return {"audio_mel": mels, "audio_mel_mask": ~padding(SPEECH_FRAMES, 56).bool()}


def film(source: Source) -> Inputs:
    size = source.find("max_img_size")
    frames = source.normal(BATCH, source.find("num_frames"), 3, size, size)
    return text(source) | {"pixel_values": frames}


def target_sizes(source: Source) -> Inputs:
    sizes = torch.tensor([[4, 4], [4, 8]])
    patch = source.find("patch_size")
    pixels = source.normal(1, 3, patch, patch * int(sizes.prod(1).sum()))
    return {"pixel_values": pixels, "target_sizes": sizes}


def merged_grid(source: Source) -> Inputs:
    grid = torch.tensor([[1, 4, 4], [1, 4, 8]])
    pixels = source.normal(int(grid.prod(1).sum()), source.patch_dim or 588)
    return {"pixel_values": pixels, "grid_thw": grid, "merge_sizes": torch.tensor([1, 2])}


def tower_image(source: Source) -> Inputs:
    return {"image": picture(source)}


def listen_and_read(source: Source) -> Inputs:
    mels = source.find("num_mel_bins", below="audio")
    return text(source) | {"input_features": source.normal(BATCH, mels, 8 * TEXT)}


def canvas(source: Source) -> Inputs:
    """A prompt and a canvas to fill; the canvas sees all of itself."""
    return text(source) | {"decoder_input_ids": text_ids(source, TARGET, TARGET)}


def local_bytes(source: Source) -> Inputs:
    """A transformer below another: embeddings and a ready 4-D causal mask."""
    hidden = torch.finfo(torch.float32).min
    mask = torch.full((TEXT, TEXT), hidden).triu(1).expand(BATCH, 1, -1, -1)
    embeds = source.normal(BATCH, TEXT, source.find("hidden_size"))
    return {"input_embeds": embeds, "attention_mask": mask}


INPUTS: dict[str, Callable[[Source], Any]] = {
    "autoformer": series,
    "informer": series,
    "time_series_transformer": series,
    "patchtst": channels,
    "patchtsmixer": channels,
    "timesfm": timesfm,
    "timesfm2_5": lambda source: {"past_values": source.normal(BATCH, 128)},
    "depth_pro": lambda source: {"pixel_values": picture(source, 128)},
    "decision_transformer": decisions,
    "lxmert": lxmert,
    "kosmos-2": kosmos2,
    "musicgen_decoder": codebooks,
    "musicgen_melody_decoder": codebooks,
    "musicgen": music,
    "musicgen_melody": music,
    "kyutai_speech_to_text": code_frames,
    "dia": dia,
    "pix2struct": lambda source: flat_patches(source) | target(source),
    "pix2struct_vision_model": flat_patches,
    "idefics": idefics,
    "blip-2": blip2,
    "instructblip": instructblip,
    "instructblipvideo": instructblip_video,
    "seggpt": seggpt,
    "omdet-turbo": omdet,
    "oneformer": oneformer,
    "speecht5": speecht5,
    "perceiver": perceiver,
    "diffusion_gemma": canvas,
    "gemma4_audio": mel_frames(128, "attention_mask"),
    "granite_speech5_encoder": mel_frames(320, "attention_mask"),
    "granite_speech5_ctc": mel_frames(320, "attention_mask"),
    "fun_asr_nano_encoder": mel_frames(560, "input_features_mask"),
    "gemma4_vision": gemma_patches,
    "gemma3n_audio": gemma_audio,
    "tvp": film,
    "minicpm_ocr_vision": target_sizes,
    "minicpmv4_6_vision": target_sizes,
    "minicpmv4_7_vision": target_sizes,
    "video_llama_3_vision": merged_grid,
    "bridgetower_vision_model": tower_image,
    "voxtral_realtime": listen_and_read,
    "blt_global_transformer": local_bytes,
}
