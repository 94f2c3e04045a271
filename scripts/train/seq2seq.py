"""What the encoder-decoders share: the tokenizer, Marian's shape, batches, and exact answers.

In: pairs of source and target texts from a seeded generator. Out: a tokenizer whose pieces are
whole words, single characters for words it does not know, bytes for characters it does not know;
a model of transformers' Marian class; the loss of a batch. Row t of the decoder predicts token
t + 1, so a word's alignment is read in the row that predicts its first piece.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn
from transformers import (
    GenerationConfig,
    MarianConfig,
    MarianMTModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from attnviz.models.from_folder import wrap
from attnviz.models.loaded_model import LoadedModel

PAD, END, UNKNOWN = 0, 1, 2
SPECIAL = ["<pad>", "</s>", "<unk>"]
LIMIT = 128  # tokens of a source, and of a target
CHARACTERS = (
    "▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"()-/&%"
    "àâçéèêëîïôùûüÿœæÀÂÇÉÈÊËÎÏÔÙÛŒñöäóíáú"
)
# a digit, an elided word with its apostrophe, n't and 's with theirs, a word, any other sign
PIECE = (
    r"▁?[Aa]ujourd'hui|▁?(?:[ldjncmtsLDJNCMTS]|[qQ]u)'(?=\p{L})|'(?:s|m|re)(?!\p{L})"
    r"|▁?\p{L}+n't|▁?\p{L}[\p{L}\p{M}]*(?:-\p{L}[\p{L}\p{M}]*)*|▁?\p{N}|▁?[^\p{L}\p{N}\s▁]"
)


def tokenizer(
    texts: Iterable[str], kept: Callable[[str, int], bool], *, hyphens: bool
) -> PreTrainedTokenizerFast:
    """A tokenizer that knows every word of the texts that is to be `kept`, given how often it is
    there; words with hyphens as one, or in parts.

    A BPE without merges: a word of the vocabulary is one piece, any other falls into characters.
    """
    split = PIECE if hyphens else PIECE.replace(r"(?:-\p{L}[\p{L}\p{M}]*)*", "")
    made = Tokenizer(models.BPE(vocab={}, merges=[], byte_fallback=True, ignore_merges=True))
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace("’", "'")])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first"),
            pre_tokenizers.Split(Regex(split), "isolated"),
        ]
    )
    vocabulary = _vocabulary(made, texts, kept)
    made.model = models.BPE(
        vocab=vocabulary, merges=[], unk_token="<unk>", byte_fallback=True, ignore_merges=True
    )
    made.decoder = decoders.Sequence(
        [
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Replace("▁", " "),
            decoders.Strip(" ", 1, 0),
        ]
    )
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", END)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=LIMIT,
        model_input_names=["input_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
    )


def _vocabulary(
    made: Tokenizer, texts: Iterable[str], kept: Callable[[str, int], bool]
) -> dict[str, int]:
    """Special tokens, all bytes, single characters, and the words in the order of their number."""
    counts: Counter[str] = Counter()
    for text in texts:
        pieces = made.pre_tokenizer.pre_tokenize_str(made.normalizer.normalize_str(text))
        counts.update(piece for piece, _ in pieces)
    words = [word for word, n in counts.most_common() if len(word) > 1 and kept(word, n)]
    names = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *CHARACTERS, *words]
    return {name: n for n, name in enumerate(dict.fromkeys(names))}


def model(
    vocabulary: int, *, width: int, layers: tuple[int, int], heads: int, inner: int, dropout: float
) -> MarianMTModel:
    """Marian's shape: sinusoidal positions, one table of embeddings for both sides and the head."""
    config = MarianConfig(
        vocab_size=vocabulary,
        d_model=width,
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=inner,
        decoder_ffn_dim=inner,
        max_position_embeddings=LIMIT,
        activation_function="relu",
        dropout=dropout,
        attention_dropout=dropout,
        scale_embedding=True,
        pad_token_id=PAD,
        bos_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
    )
    made = MarianMTModel(config)
    made.set_attn_implementation("eager")  # short rows: twice as fast here as the fused kernel
    made.generation_config = GenerationConfig(
        decoder_start_token_id=PAD,
        pad_token_id=PAD,
        eos_token_id=END,
        bos_token_id=PAD,
        max_new_tokens=LIMIT - 1,
        do_sample=False,
        num_beams=1,
    )
    return made


def loaded(trained: MarianMTModel, tokens: PreTrainedTokenizerFast) -> LoadedModel:
    """The model in training as attnviz captures it."""
    made = wrap(trained)
    made.tokenizer = tokens
    return made


def saver(tokens: PreTrainedTokenizerFast) -> Callable[[PreTrainedModel, Path], None]:
    """Writes the tokenizer and how to generate beside the weights."""

    def save(trained: PreTrainedModel, folder: Path) -> None:
        tokens.save_pretrained(folder)
        trained.generation_config.save_pretrained(folder)

    return save


def generator(rng: np.random.Generator) -> random.Random:
    """The world's own generator, seeded by the trainer's."""
    return random.Random(int(rng.integers(2**62)))


def ids(tokens: PreTrainedTokenizerFast, texts: list[str]) -> Tensor:
    """Token ids of the texts, padded on the right: [batch, token]."""
    encoded: Tensor = tokens(texts, padding=True, return_tensors="pt")["input_ids"]
    return encoded


def shifted(target: Tensor) -> Tensor:
    """What the decoder reads: the start token, then all of the target but its last."""
    return torch.cat([torch.full_like(target[:, :1], PAD), target[:, :-1]], dim=1)


def translation_loss(trained: MarianMTModel, source: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of each target token, given those before it; padding is left out."""
    read = trained.model(
        input_ids=source,
        attention_mask=(source != PAD).long(),
        decoder_input_ids=shifted(target),
        use_cache=False,
    )
    wanted = target != PAD
    logits = trained.lm_head(read.last_hidden_state[wanted]) + trained.final_logits_bias
    return nn.functional.cross_entropy(logits.float(), target[wanted])


def of_one_length(
    pairs: list[tuple[str, str]], rng: np.random.Generator, batch: int
) -> list[tuple[str, str]]:
    """One of the pairs' parts of equal length, so that little of the batch is padding.

    Sorted by length and cut into batches, of which one is drawn: each pair is as likely as another.
    """
    pairs.sort(key=lambda pair: len(pair[1].split()))
    start = batch * int(rng.integers(len(pairs) // batch))
    return pairs[start : start + batch]


def exact(
    trained: nn.Module, tokens: PreTrainedTokenizerFast, pairs: list[tuple[str, str]]
) -> float:
    """The share of sources whose greedy answer is the wanted text, letter for letter."""
    encoded = tokens([source for source, _ in pairs], padding=True, return_tensors="pt")
    written = trained.generate(**encoded, max_new_tokens=64)
    answers = tokens.batch_decode(written, skip_special_tokens=True)
    right = sum(answer == target for answer, (_, target) in zip(answers, pairs, strict=True))
    return right / len(pairs)
