"""What the general rules of this package cannot know about a model type: overrides, by type."""

from typing import Any

HYBRID = ["linear_attention", "full_attention"]
SERIES = {"prediction_length": 7, "context_length": 14, "num_time_features": 1}
SECTIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 2, 2, 2]}
LAYER_SECTIONS = {
    kind: {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [3, 2, 3]}
    for kind in ("full_attention", "sliding_attention")
}
TILES = {"image_grid_pinpoints": [[64, 128], [128, 64], [64, 64]]}
DETECTOR = {"decoder_in_channels": [64, 64, 64]}
QWEN_PARTIAL = {"head_dim": 32}

# Fields of the config, by model type; "text_config.x" reaches into a sub-config.
OVERRIDES: dict[str, dict[str, Any]] = {
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "num_hidden_layers": 2},
    "qwen3_5_text": QWEN_PARTIAL,
    "qwen3_5_moe_text": QWEN_PARTIAL,
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "bamba": {"attn_layer_indices": [1], "num_hidden_layers": 2},
    "llava_next": TILES,
    "llava_next_video": TILES,
    "llava_onevision": TILES,
    "gemma3": {"mm_tokens_per_image": 4},
    "t5gemma2_encoder": {"mm_tokens_per_image": 4},
    "shieldgemma2": {"yes_token_index": 7, "no_token_index": 8, "mm_tokens_per_image": 4},
    "xmod": {"default_language": "en_XX"},
    "vits": {"speaking_rate": 1e9},
    "zamba": {
        "layers_block_type": ["linear_attention", "hybrid"] * 2,
        "num_hidden_layers": 4,
        "attention_hidden_size": 128,
        "attention_head_dim": 32,
        "mamba_dt_rank": 4,
    },
    "align": {"projection_dim": 640},
    "blip-2": {"image_token_index": 450},
    "instructblip": {"image_token_index": 450},
    "instructblipvideo": {"video_token_index": 450},
    "cohere_compass_text": {"rope_parameters": LAYER_SECTIONS},
    "d_fine": DETECTOR,
    "deimv2": DETECTOR,
    "rt_detr": DETECTOR,
    "rt_detr_v2": DETECTOR,
    "pp_doclayout_v2": DETECTOR | {"class_thresholds": [0.5] * 25, "class_order": list(range(25))},
    "pp_doclayout_v3": DETECTOR,
    "pp_doclayout_v4": DETECTOR,
    "sam2_vision_model": {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]},
    "sam3_vision_model": {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]},
    "granitemoehybrid": {"layer_types": HYBRID, "num_hidden_layers": 2},
    "recurrent_gemma": {"num_hidden_layers": 3},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "autoformer": SERIES,
    "informer": SERIES,
    "time_series_transformer": SERIES,
    "gemma3n_text": {
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_hidden_layers": 4,
        "num_kv_shared_layers": 2,
        "intermediate_size": [96] * 4,
        "activation_sparsity_pattern": [0.95, 0.0, 0.95, 0.0],
    },
    "nemotron_h": {"n_groups": 2},
    "longcat_flash": {"head_dim": 8},
    "dbrx": {"attn_config.rope_theta": 10000.0, "attn_config.clip_qkv": 8.0},
    "hrm_text": {"num_hidden_layers": 16},
    "qwen4_exp_text": {
        "head_dim": 32,
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 32,
        "indexer_budget": 4,
        "indexer_compress_ratio": 2,
        "split_ngram_parts": 2,
        "ngram_vocab_size_base": 200,
    },
    "audio-spectrogram-transformer": {"max_length": 64},
    "dots3_note_text": {"num_key_value_heads": 4},
    "glm5_next_text": {"index_topk": 4, "index_kpool": 2},
    "mamba2": {"num_heads": 4, "head_dim": 32, "n_groups": 2},
    "deepseek_v2": {"num_experts_per_tok": 2},
    "gemma4_assistant": {
        "_start": {"text_config": {"model_type": "gemma4_text", "hidden_size_per_layer_input": 0}}
    },
    "janus_vqgan": {"base_channels": 32},
    "chameleon_vqgan": {"base_channels": 32},
    "emu3_vqgan": {"base_channels": 32},
    "chameleon": {"vocabulary_map": {"<image>": 400, "IMGIMGA1Z": 401}},
    "emu3": {"vocabulary_map": {"<image>": 400, "<|extra_0|>": 401}},
    "eomt": {"num_blocks": 1},
    "eomt_dinov3": {"num_blocks": 1},
    "esm": {"vocab_size": 33, "pad_token_id": 1},
    "mimi": {"upsample_groups": 64},
    "funnel": {"block_sizes": [1, 1], "d_inner": 96},
    "perceiver": {"d_latents": 64, "num_self_attends_per_block": 2},
    "vibevoice_acoustic_tokenizer": {"num_filters": 2, "depths": (1,) * 7},
    "vibevoice_acoustic_tokenizer_encoder": {"num_filters": 2, "depths": (1,) * 7},
    "vibevoice_acoustic_tokenizer_decoder": {"num_filters": 2, "depths": (1,) * 7},
    "granite_speech_encoder": {"context_size": 8, "max_pos_emb": 32},
    "granite_speech_plus_encoder": {"context_size": 8, "max_pos_emb": 32},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense", "sparse"]},
    "unlimited_ocr_text": {"mlp_layer_types": ["dense", "sparse"]},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 32},
    "moonshine_streaming": {"num_key_value_heads": 4},
    "t5gemma2_text": {"dropout_rate": 0.0},
    "hunyuan_vl_text": {"rope_parameters": SECTIONS},
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 32},
    "step3p5": {"sliding_window": 4},
    "molmo2": {"adapter_config.vision_feature_layer": [-1, -2]},
    "vitmatte": {"fusion_hidden_sizes": [256, 128, 64, 32]},
    "tvp": {"visual_prompt_size": 8, "max_img_size": 64, "num_frames": 2},
    "efficientloftr": {"hidden_size": 256, "stage_num_blocks": [1, 1, 1, 1]},
    "superglue": {"hidden_size": 256},
    "gemma4_unified_assistant": {"text_config.num_kv_shared_layers": 0},
    "depth_pro": {
        "intermediate_hook_ids": [1, 0],
        "patch_size": 32,
        "image_model_config.image_size": 32,
    }
    | {"patch_model_config.image_size": 32, "fov_model_config.image_size": 32},
    "dots3_note_vision_encoder": {"adapter_in_dim": 64},
    "dots3_note_audio_encoder": {"adapter_input_size": 64},
    "granite4_vision": {"deepstack_layer_map": [[-1, 0]], "downsample_rate": "1/2"},
    "llama4_vision_model": {"intermediate_size": 256},
    "mllama_vision_model": {"intermediate_layers_indices": [0, 1]},
    "phi4_multimodal_audio": {
        "ext_pw_out_channel": 64,
        "depthwise_separable_out_channel": 64,
        "nemo_conv_channels": 64,
        "num_blocks": 2,
    },
    "qwen2_5_omni_audio_encoder": {"n_window": 20},
    "longformer": {"attention_window": [4, 6]},
    "led": {"attention_window": [4, 6]},
    "molmo2_vision": {"num_position_embeddings": 16, "image_size": [56, 56]},
    "lw_detr": {"projector_scale_factors": [1.0]},
    "qwen3_omni_moe": {"talker_config.spatial_merge_size": 2},
    "zoedepth": {"bottleneck_features": 64},
    "pix2struct_text_model": {"initializer_range": 0.02},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "fun_asr_nano": {"adaptor_config.intermediate_size": 16},
}

# The class to build, where the auto classes name none or one that cannot run alone.
MODEL_CLASSES: dict[str, str] = {
    "blip_text_model": "BlipTextModel",
    "musicgen": "MusicgenForConditionalGeneration",
    "musicgen_melody": "MusicgenMelodyForConditionalGeneration",
}
