"""What both story decoders share: corpus, tokenizer, batches, loss, and the curve's figures.

The text is `worlds.stories`; nothing else is read. Most rows are pieces of that text, a share
of them random tokens that repeat, where only attention to the earlier copy helps: that is what
makes induction heads appear early. Every step sees 2,048 tokens, mostly 32 rows of 64, sometimes 8
rows of 256, so that distant positions are learned too.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from jaxtyping import Int64
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from attnviz.checks import decoders as measured
from attnviz.models.from_folder import wrap
from scripts.train import trainer
from scripts.train.worlds.stories import probes, stories

CONTEXT = 256
VOCABULARY = 1280
END = "<|endoftext|>"
N_DOCUMENTS = 120_000
N_FOR_TOKENIZER = 10_000
# rows × tokens of a batch; both make 2,048 tokens
SHORT, LONG = (32, 64), (8, 256)
SHARE_LONG = 0.1
SHARE_FROM_START = 0.7
MEASURE_SEED = 77_000


@dataclass(frozen=True, eq=False)
class Corpus:
    """All documents one after the other, each begun by the end-of-text token (id 0)."""

    tokenizer: PreTrainedTokenizerFast
    tokens: Int64[np.ndarray, " token"]
    starts: Int64[np.ndarray, " document"]


def corpus(seed: int, n_documents: int = N_DOCUMENTS) -> Corpus:
    """The text of a seed with the tokenizer that was made from it."""
    documents = list(stories.documents(seed, n_documents))
    tokenizer = tokenizer_for(documents[:N_FOR_TOKENIZER])
    encoded = tokenizer(documents)["input_ids"]
    tokens = np.concatenate([np.array(ids, dtype=np.int64) for ids in encoded])
    starts = np.flatnonzero(tokens == 0)
    return Corpus(tokenizer, tokens, starts[starts < len(tokens) - CONTEXT - 1])


def tokenizer_for(documents: list[str]) -> PreTrainedTokenizerFast:
    """Byte-level pairs with all 256 bytes, so that any text comes back as it went in."""
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    pieces.train_from_iterator(
        documents,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=[END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    pieces.post_processor = processors.TemplateProcessing(
        single=f"{END} $A", pair=f"{END} $A $B", special_tokens=[(END, 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        bos_token=END,
        eos_token=END,
        pad_token=END,
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )


def batch(
    source: Corpus, draws: np.random.Generator, share_repeated: float
) -> Int64[np.ndarray, "row token"]:
    """Rows of text and of repeated random tokens, one token longer than what the model sees."""
    n_rows, length = LONG if draws.random() < SHARE_LONG else SHORT
    rows = [
        _repeated(len(source.tokenizer), length + 1, draws)
        if draws.random() < share_repeated
        else _text(source, length + 1, draws)
        for _ in range(n_rows)
    ]
    return np.stack(rows)


def _repeated(n_vocab: int, length: int, draws: np.random.Generator) -> Int64[np.ndarray, " token"]:
    once = draws.integers(1, n_vocab, int(draws.integers(4, length // 2)))
    copies = np.tile(once, length // len(once) + 1)
    return np.concatenate([[0], copies])[:length]


def _text(source: Corpus, length: int, draws: np.random.Generator) -> Int64[np.ndarray, " token"]:
    if draws.random() < SHARE_FROM_START:
        start = int(draws.choice(source.starts))
    else:
        start = int(draws.integers(len(source.tokens) - length))
    row = source.tokens[start : start + length].copy()
    row[0] = 0
    return row


def loss(
    source: Corpus, model: nn.Module, draws: np.random.Generator, share_repeated: float
) -> Tensor:
    """The mean loss of one batch; half of the batches begin at a later position."""
    ids = torch.from_numpy(batch(source, draws, share_repeated))
    n_rows, length = ids.shape[0], ids.shape[1] - 1
    first = 0 if draws.random() < 0.5 else int(draws.integers(CONTEXT - length + 1))
    logits = model(
        input_ids=ids[:, :-1],
        attention_mask=torch.ones(n_rows, length, dtype=torch.long),
        position_ids=torch.arange(first, first + length).expand(n_rows, -1),
        use_cache=False,
    ).logits
    return cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())


def measure(source: Corpus, model: nn.Module) -> dict[str, float]:
    """The curve's figures, on few cases: what the heads do and what the model can."""
    lm = wrap(model)
    lm.tokenizer = source.tokenizer
    draws = np.random.default_rng(MEASURE_SEED)
    ids = measured.repeated_tokens(draws, len(source.tokenizer), n_texts=12, length=25)
    copies = measured.copy_scores(lm, ids)
    r = Random(MEASURE_SEED)
    giving = [probes.indirect_object(r) for _ in range(50)]
    candidates = [probes.what_it_is(r) for _ in range(50)]
    held_out = list(stories.documents(MEASURE_SEED, 40))
    return {
        "held_out_loss": round(measured.mean_loss(lm, held_out), 4),
        "copying": round(copies.accuracy, 4),
        "induction": round(measured.best_head(copies.induction)[1], 4),
        "previous": round(measured.best_head(copies.previous)[1], 4),
        "indirect_object": measured.choice_accuracy(lm, giving),
        "antecedent": measured.choice_accuracy(lm, candidates),
    }


def train(
    name: str,
    seed: int,
    model: PreTrainedModel,
    source: Corpus,
    share_repeated: float,
    options: argparse.Namespace,
) -> None:
    """Train one of the two decoders on the corpus that its embeddings were made for."""

    def save(_model: PreTrainedModel, folder: Path) -> None:
        source.tokenizer.save_pretrained(folder)

    recipe = trainer.Recipe(
        name=name,
        seed=seed,
        schedule=trainer.Schedule(steps=options.steps, lr=2e-3),
        loss=lambda module, draws: loss(source, module, draws, share_repeated),
        measure=lambda module: measure(source, module),
        measure_every=200,
    )
    trainer.train(recipe, model, save, options)
