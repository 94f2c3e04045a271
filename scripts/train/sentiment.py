"""Train `sentiment`: does a review praise or blame? A two-layer encoder of BERT's shape.

    make train NAME=sentiment

Its world is `worlds.sentiment`: half of the reviews say it by a negation. A vocabulary keeps
the words of that world whole and spells any other word, so that none becomes one [UNK].
While it trains, a second question is asked after the first layer: at each word that judges, what
does its clause say, with its negators? The weights of that question are not stored; the first
layer's habit of looking for negators is.
"""

import random
import re
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from scripts.train import trainer
from scripts.train.worlds.sentiment.reviews import LABELS, Review, lengthened, review, reviews

NAME, SEED, STEPS = "sentiment", 20, 1800
BATCH, POOL, MAX_TOKENS = 64, 60_000, 64
WIDTH, LAYERS, HEADS, INNER = 128, 2, 4, 256
# batches with clauses before the review that judge nothing: later positions learn too
LONG_SHARE = 0.1
MEASURED_SEED, MEASURED = 7_000_001, 400
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# a word keeps its apostrophe and its hyphens: "didn't" is one token, and one negator
WORD = r"\w+(?:['-]\w+)*|[^\w\s]"
MIN_SEEN = 8
BEGINNINGS = ("un", "dis", "in", "im", "over", "under", "non", "re", "super", "anti")
ENDINGS = (
    "s",
    "es",
    "ed",
    "d",
    "ing",
    "ly",
    "er",
    "est",
    "y",
    "ful",
    "less",
    "ness",
    "ment",
    "able",
)


def vocabulary() -> tuple[str, ...]:
    """Special tokens, every letter at the beginning and inside of words, pieces, then words."""
    texts = (item.text.lower() for item in reviews(SEED, POOL))
    seen = Counter(word for text in texts for word in re.findall(WORD, text))
    words = sorted(word for word, n in seen.items() if n >= MIN_SEEN)
    signs = sorted(set(string.printable.strip().lower()) | {"’", "…", "–", "€", "£", "ß", "ø", "æ"})
    pieces = (*BEGINNINGS, *(f"##{ending}" for ending in (*signs, *ENDINGS)))
    return tuple(dict.fromkeys((*SPECIAL, *signs, *pieces, *words)))


def make_tokenizer() -> PreTrainedTokenizerFast:
    """BERT's WordPiece without case and accents, over the words above."""
    ids = {token: number for number, token in enumerate(vocabulary())}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace("’", "'"),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), "removed", invert=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    tokenizer.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_TOKENS,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def make_model(n_tokens: int) -> BertForSequenceClassification:
    torch.manual_seed(SEED)
    config = BertConfig(
        vocab_size=n_tokens,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=INNER,
        max_position_embeddings=MAX_TOKENS,
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.05,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    model = BertForSequenceClassification(config)
    model.clause_says = nn.Linear(WIDTH, 2)
    return model


def batches(
    tokenizer: PreTrainedTokenizerFast, items: tuple[Review, ...]
) -> Iterator[dict[str, Tensor]]:
    """The reviews as model inputs with their labels, a batch at a time."""
    for start in range(0, len(items), 200):
        yield encoded(tokenizer, items[start : start + 200])


def encoded(tokenizer: PreTrainedTokenizerFast, items: tuple[Review, ...]) -> dict[str, Tensor]:
    texts = [item.text for item in items]
    batch = tokenizer(
        texts, padding=True, truncation=True, return_tensors="pt", return_offsets_mapping=True
    )
    return {**batch, "labels": torch.tensor([int(item.positive) for item in items])}


def judgements(offsets: Tensor, items: tuple[Review, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Row, token and what the clause says, 0 or 1, of each word that judges."""
    found = [
        (row, start, says)
        for row, item in enumerate(items)
        for (start, _), says in ((item.judging, item.positive), *item.others)
    ]
    rows, starts, says = (
        torch.tensor(each, dtype=torch.int64) for each in zip(*found, strict=True)
    )
    begins = offsets[rows, :, 0] == starts[:, None]
    here = begins & (offsets[rows, :, 1] > offsets[rows, :, 0])
    seen = here.any(1)  # a word beyond the last token asks nothing
    return rows[seen], here[seen].int().argmax(1), says[seen]


def main() -> None:
    options = trainer.arguments(NAME, STEPS)
    tokenizer = make_tokenizer()
    model = make_model(len(tokenizer))
    held_out = reviews(MEASURED_SEED, MEASURED)

    def loss(model: nn.Module, rng: np.random.Generator) -> Tensor:
        draw = random.Random(int(rng.integers(2**63)))
        longer = draw.random() < LONG_SHARE
        items = tuple(review(draw) for _ in range(BATCH))
        items = tuple(lengthened(draw, item) for item in items) if longer else items
        batch = encoded(tokenizer, items)
        offsets = batch.pop("offset_mapping")
        found = model(**batch, output_hidden_states=True)
        rows, tokens, says = judgements(offsets, items)
        of_words = model.clause_says(found.hidden_states[1][rows, tokens])
        answer: Tensor = found.loss + cross_entropy(of_words, says)
        return answer

    def measure(model: nn.Module) -> dict[str, float]:
        right = torch.cat(
            [
                model(batch["input_ids"], batch["attention_mask"]).logits.argmax(1)
                == batch["labels"]
                for batch in batches(tokenizer, held_out)
            ]
        )
        negated = torch.tensor([item.negated for item in held_out])
        return {
            "accuracy": round(right.float().mean().item(), 4),
            "negated": round(right[negated].float().mean().item(), 4),
        }

    def save(model: PreTrainedModel, folder: Path) -> None:
        kept = {k: v for k, v in model.state_dict().items() if not k.startswith("clause_says")}
        model.save_pretrained(folder, state_dict=kept)
        tokenizer.save_pretrained(folder)

    schedule = trainer.Schedule(
        options.steps, lr=1e-3, muon_lr=2e-3, warmup=150, weight_decay=0.02, bfloat16=False
    )
    recipe = trainer.Recipe(NAME, SEED, schedule, loss, measure, measure_every=250)
    trainer.train(recipe, model, save, options)


if __name__ == "__main__":
    main()
