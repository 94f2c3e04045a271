"""Model folders as a user would have them: tiny models with random weights, and a tokenizer."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BlipConfig,
    BlipForConditionalGeneration,
    CLIPConfig,
    CLIPModel,
    CLIPVisionConfig,
    ConvBertConfig,
    ConvBertForMaskedLM,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    HubertConfig,
    HubertModel,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MoonshineConfig,
    MoonshineForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    SEWConfig,
    SEWForCTC,
    SiglipConfig,
    SiglipModel,
    SwinConfig,
    SwinForImageClassification,
    Swinv2Config,
    Swinv2ForImageClassification,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    VitDetConfig,
    VitDetModel,
    ViTForImageClassification,
    ViTImageProcessor,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2ForCTC,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
)

from tests.support import coarse

WORDS = "[PAD] [UNK] [CLS] [SEP] <s> </s> the cat sat on a mat dog ran and slept".split()
VOCAB = len(WORDS)
# what a model that chats has besides: a role's name is a word like any other, its marks are not
MARKS = ("<|im_start|>", "<|im_end|>", "<image>")
CHAT_WORDS = [*WORDS, "system", "user", "assistant", *MARKS]
# a message has a text, or parts of which one is a picture, as LLaVA's template reads them
PICTURE_TEMPLATE = (
    "{% for message in messages %}<|im_start|> {{ message['role'] }}\n"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<image> "
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %} <|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|> assistant\n{% endif %}"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|> {{ message['role'] }}\n"
    "{{ message['content'] | trim }} <|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|> assistant\n{% endif %}"
)
FORM_LABELS = dict(
    enumerate(f"{c} {f}" for f in ("circle", "square") for c in ("red", "blue", "green"))
)
VISION = {"vit": 12, "forms": 24, "swin": 32, "swinv2": 24, "vitdet": 24}
VISION |= dict.fromkeys(coarse.NAMES, coarse.SIDE)
BOTH = {"clip": 24, "siglip": 24, "blip": 24, "llava": 24, "llava-chat": 24}


LAYERS = {"layers": 2, "attention_heads": 3, "ffn_dim": 20}
LISTENING = ("whisper", "wav2vec2", "hubert", "moonshine", "sew")
TRANSCRIBING = ("whisper", "moonshine")
LONG = 16_384  # how many positions the model named "long" has


def tokenizer(kind: str, longest: int = 32) -> PreTrainedTokenizerFast:
    """A word-level tokenizer with the special tokens that a kind of model expects."""
    chats = {"chat": CHAT_TEMPLATE, "picture-chat": PICTURE_TEMPLATE}
    known = CHAT_WORDS if kind in chats else WORDS
    base = Tokenizer(models.WordLevel({word: i for i, word in enumerate(known)}, "[UNK]"))
    base.pre_tokenizer = pre_tokenizers.Whitespace()
    if kind == "encoder":
        base.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B [SEP]",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    elif kind == "encoder-decoder":
        base.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 5)]
        )
    elif kind == "transcript":  # as Whisper's, with the start token in front
        base.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 4), ("</s>", 5)]
        )
    marked = {"extra_special_tokens": list(MARKS), "chat_template": chats.get(kind)}
    return PreTrainedTokenizerFast(
        **marked if kind in chats else {},
        tokenizer_object=base,
        pad_token="[PAD]",
        unk_token="[UNK]",
        eos_token="</s>",
        model_max_length=longest,
    )


def _rarer(shape: dict[str, int], ids: dict[str, int]) -> dict[str, Callable[[], PreTrainedModel]]:
    """Attention code of its own; a softcap and a sliding window."""
    return {
        # its scores are sums of several products, so that only its weights are known
        "deberta": lambda: DebertaV2ForMaskedLM(
            DebertaV2Config(
                **shape, intermediate_size=20, relative_attention=True, pos_att_type=["c2p", "p2c"]
            )
        ),
        # its attention is recorded, its convolutions beside it are named as missing
        "convbert": lambda: ConvBertForMaskedLM(
            ConvBertConfig(**shape, intermediate_size=20, embedding_size=24, head_ratio=1)
        ),
        "gemma2": lambda: Gemma2ForCausalLM(
            Gemma2Config(
                **shape,
                **ids,
                num_key_value_heads=1,
                head_dim=8,
                intermediate_size=20,
                sliding_window=4,
                attn_logit_softcapping=2.0,
                query_pre_attn_scalar=16,
            )
        ),
    }


def _windowed() -> dict[str, Callable[[], PreTrainedModel]]:
    """Windows of 4 × 4: swin has 16, 4 and 1; swinv2 9, then 4 that are filled up, then 3 × 3."""
    shape = {"patch_size": 2, "num_labels": 3, "embed_dim": 16, "window_size": 4}
    layers = {"depths": [2, 2, 1], "num_heads": [2, 4, 4]}
    return {
        "swin": lambda: SwinForImageClassification(SwinConfig(**shape, **layers, image_size=32)),
        "vitdet": lambda: VitDetModel(
            VitDetConfig(
                hidden_size=24,
                num_hidden_layers=2,
                num_attention_heads=3,
                image_size=24,
                pretrain_image_size=24,
                patch_size=4,
                window_block_indices=[0],
                window_size=4,
            )
        ),
        "swinv2": lambda: Swinv2ForImageClassification(
            Swinv2Config(**shape, **layers, image_size=24)
        ),
    }


def _decoders(
    shape: dict[str, int], vocabulary: dict[str, int], ids: dict[str, int]
) -> dict[str, Callable[[], PreTrainedModel]]:
    """GPT-2's shape, once with many positions; Llama's with grouped heads, once with a template."""
    grouped = {**shape, "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 20}
    narrow = {"vocab_size": VOCAB, "n_embd": 24, "n_layer": 2, "n_head": 3, **ids}
    chats = vocabulary | {"vocab_size": len(CHAT_WORDS)}
    return {
        "gpt2": lambda: GPT2LMHeadModel(GPT2Config(**narrow, n_positions=32)),
        "long": lambda: GPT2LMHeadModel(GPT2Config(**narrow, n_positions=LONG)),
        "llama": lambda: LlamaForCausalLM(LlamaConfig(**grouped, **vocabulary, **ids)),
        "chat": lambda: LlamaForCausalLM(LlamaConfig(**grouped, **chats, **ids)),
    }


def _text_and_picture(shape: dict[str, int]) -> dict[str, Callable[[], PreTrainedModel]]:
    """Two towers; a text that looks across at a picture; a picture read as part of the text."""
    text = {**shape, "intermediate_size": 20, "vocab_size": VOCAB, "max_position_embeddings": 32}
    text |= {"pad_token_id": 0, "bos_token_id": 4, "eos_token_id": 5, "sep_token_id": 3}
    sees = {**shape, "intermediate_size": 20, "image_size": 24, "patch_size": 6}

    def inside(words: list[str], piece: str) -> PreTrainedModel:
        writes = LlamaConfig(**text | {"vocab_size": len(words)}, num_key_value_heads=3)
        config = LlavaConfig(
            text_config=writes,
            vision_config=CLIPVisionConfig(**sees),
            image_token_index=words.index(piece),
        )
        return LlavaForConditionalGeneration(config)

    return {
        "clip": lambda: CLIPModel(
            CLIPConfig(text_config=text, vision_config=sees, projection_dim=16)
        ),
        "siglip": lambda: SiglipModel(SiglipConfig(text_config=text, vision_config=sees)),
        "blip": lambda: BlipForConditionalGeneration(
            BlipConfig(text_config=text | {"encoder_hidden_size": 24}, vision_config=sees)
        ),
        "llava": lambda: inside(WORDS, "[UNK]"),
        "llava-chat": lambda: inside(CHAT_WORDS, "<image>"),
    }


def _listening(shape: dict[str, int]) -> dict[str, Callable[[], PreTrainedModel]]:
    """One that writes what it hears, on mel bands; two that hear samples, 40 of them a frame."""
    samples = {
        **shape,
        "vocab_size": VOCAB,
        "intermediate_size": 20,
        "conv_dim": (8, 8, 8),
        "conv_stride": (5, 8, 8),
        "conv_kernel": (10, 8, 8),
        "num_feat_extract_layers": 3,
        "num_conv_pos_embeddings": 8,
        "num_conv_pos_embedding_groups": 2,
    }
    heads = (("hidden_layers", 2), ("attention_heads", 3))
    sizes = {f"{part}_{of}": n for part in ("encoder", "decoder") for of, n in LAYERS.items()}
    return {
        "whisper": lambda: WhisperForConditionalGeneration(
            WhisperConfig(
                **sizes,
                vocab_size=VOCAB,
                num_mel_bins=8,
                d_model=24,
                max_source_positions=100,
                max_target_positions=32,
                decoder_start_token_id=4,
                pad_token_id=0,
                bos_token_id=4,
                eos_token_id=5,
            )
        ),
        "wav2vec2": lambda: Wav2Vec2ForCTC(Wav2Vec2Config(**samples)),
        "hubert": lambda: HubertModel(HubertConfig(**samples)),
        "sew": lambda: SEWForCTC(SEWConfig(**samples, squeeze_factor=2)),
        "moonshine": lambda: MoonshineForConditionalGeneration(
            MoonshineConfig(
                vocab_size=VOCAB,
                hidden_size=24,
                intermediate_size=20,
                max_position_embeddings=32,
                decoder_start_token_id=4,
                pad_token_id=0,
                bos_token_id=4,
                eos_token_id=5,
                **{f"{part}_num_{of}": n for part in ("encoder", "decoder") for of, n in heads},
            )
        ),
    }


def _classifiers(
    shape: dict[str, int], vocabulary: dict[str, int]
) -> dict[str, Callable[[], PreTrainedModel]]:
    """Classes with names: a table of two words each, a plain pair, several that may all hold."""
    labels = {"verdict": ("negative", "positive"), "topics": ("sport", "<b>art</b>", "food")}
    names = {name: dict(enumerate(of)) for name, of in labels.items()}
    several = {"problem_type": "multi_label_classification"}
    of_text = {
        name: partial(BertConfig, **shape, **vocabulary, intermediate_size=20, id2label=names[name])
        for name in labels
    }
    return {
        "vit": lambda: ViTForImageClassification(
            ViTConfig(**shape, intermediate_size=20, image_size=12, patch_size=4, num_labels=3)
        ),
        "forms": lambda: ViTForImageClassification(
            ViTConfig(
                **shape, intermediate_size=20, image_size=24, patch_size=6, id2label=FORM_LABELS
            )
        ),
        "verdict": lambda: BertForSequenceClassification(of_text["verdict"]()),
        "topics": lambda: BertForSequenceClassification(of_text["topics"](**several)),
    }


def model(name: str) -> PreTrainedModel:
    """A tiny model whose heads differ from one another."""
    torch.manual_seed(11)
    ids = {"pad_token_id": 0, "bos_token_id": 4, "eos_token_id": 5}
    shape = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
    vocabulary = {"vocab_size": VOCAB, "max_position_embeddings": 32}
    made: dict[str, Callable[[], PreTrainedModel]] = {
        "bert": lambda: BertForMaskedLM(BertConfig(**shape, **vocabulary, intermediate_size=20)),
        **_rarer(shape | vocabulary, ids),
        **_decoders(shape, vocabulary, ids),
        "marian": lambda: MarianMTModel(
            MarianConfig(
                **vocabulary,
                encoder_layers=2,
                encoder_ffn_dim=20,
                encoder_attention_heads=3,
                decoder_layers=2,
                decoder_ffn_dim=20,
                decoder_attention_heads=3,
                d_model=24,
                decoder_start_token_id=0,
                forced_eos_token_id=None,
                **ids,
            )
        ),
        "t5": lambda: T5ForConditionalGeneration(
            T5Config(
                vocab_size=VOCAB,
                d_model=24,
                d_kv=8,
                d_ff=20,
                num_layers=2,
                num_heads=3,
                decoder_start_token_id=0,
                **ids,
            )
        ),
        **_classifiers(shape, vocabulary),
        **_windowed(),
        **coarse.coarse(),
        **_listening(shape),
        **_text_and_picture(shape),
    }
    found = made[name]().eval()
    with torch.no_grad():
        for parameter in found.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.3 / parameter.shape[-1] ** 0.5)
    return found


def saved(root: Path, name: str) -> Path:
    """The model's folder below `root`, written when it is first asked for."""
    folder = root / name
    return folder if folder.exists() else save(folder, name)


def save(folder: Path, name: str) -> Path:
    """The model's folder: config, safetensors, and what prepares its inputs."""
    of = model(name)
    of.save_pretrained(folder)
    if name in VISION | BOTH:
        side = (VISION | BOTH)[name]
        ViTImageProcessor(size={"height": side, "width": side}).save_pretrained(folder)
        if name in VISION:
            return folder
    if name in LISTENING:
        mel = name == "whisper"
        listens = WhisperFeatureExtractor(8, chunk_length=2) if mel else Wav2Vec2FeatureExtractor()
        listens.save_pretrained(folder)
        if name not in TRANSCRIBING:
            return folder
    kind = (
        "encoder"
        if name in ("bert", "convbert", "deberta", "verdict", "topics")
        else "encoder-decoder"
        if name in ("marian", "t5")
        else "transcript"
        if name in TRANSCRIBING
        else {"chat": "chat", "llava-chat": "picture-chat"}.get(name, "decoder")
    )
    tokenizer(kind, LONG if name == "long" else 32).save_pretrained(folder)
    return folder
