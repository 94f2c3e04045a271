"""`capture`: from a text to every attention head, in one forward pass.

Validates everything first, then tokenises, then runs the model once under its lock. Several texts
make one padded batch. Nothing half-captured is returned: an error anywhere raises.
"""

from collections.abc import Sequence

import torch
from transformers import BatchEncoding

from attnviz.call import Capture
from attnviz.capture.record import record
from attnviz.errors import BadInput, TooLarge
from attnviz.models.labels import without_surrogates
from attnviz.models.loaded import LoadedModel
from attnviz.types import Tokens

Text = str | Sequence[str]


def capture(
    lm: LoadedModel, text: Text, text_pair: Text | None = None, *, cut: bool = False
) -> Capture:
    """Run the model on a text, or on several as one padded batch, and keep every attention call.

    `text_pair` gives each text a second sentence, joined as the model was trained to take pairs.
    Lone surrogates become U+FFFD. Raises `BadInput` for a text that is empty or no string, and
    `TooLarge` for one over the model's limit, unless `cut` asks to keep its first tokens only.
    """
    texts = _as_texts(text, "text")
    pairs = None if text_pair is None else _as_texts(text_pair, "text_pair")
    if pairs is not None and len(pairs) != len(texts):
        raise BadInput(
            f"text has {len(texts)} entries and text_pair {len(pairs)}; give one pair for each",
            code="pair_count",
            texts=len(texts),
            pairs=len(pairs),
        )
    encoded = _encode(lm, texts, pairs, cut)
    tokens = _tokens(lm, encoded, texts, pairs)
    inputs = {
        name: encoded[name].to(lm.key.device) for name in lm.text_tokenizer().model_input_names
    }
    with lm.lock, torch.no_grad(), record(lm.model) as calls:
        output = lm.model(**inputs)
    return Capture(
        model=lm.key,
        calls=tuple(calls),
        tokens_by_stack={None: tokens},
        hidden=output.get("last_hidden_state"),
        logits=output.get("logits"),
    )


def _as_texts(value: object, name: str) -> list[str]:
    texts = _strings(value)
    if texts is None:
        raise BadInput(
            f"{name} is {type(value).__name__}; give a string, or a list of strings for a batch",
            code="not_a_string",
            name=name,
            found=type(value).__name__,
        )
    if not texts or not all(text.strip() for text in texts):
        raise BadInput(
            f"{name} is empty; give at least one character that is not white space",
            code="empty_text",
            name=name,
        )
    return [without_surrogates(text) for text in texts]


def _strings(value: object) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        return None
    return list(value) if all(isinstance(text, str) for text in value) else None


def _encode(lm: LoadedModel, texts: list[str], pairs: list[str] | None, cut: bool) -> BatchEncoding:
    encoded: BatchEncoding = lm.text_tokenizer()(
        texts,
        pairs,
        padding=True,
        truncation=cut,
        max_length=lm.max_tokens if cut else None,
        return_tensors="pt",
        verbose=False,
    )
    length = int(encoded["attention_mask"].sum(dim=1).max())
    if length > lm.max_tokens:
        raise TooLarge(
            f"the text has {length} tokens and {lm.name} takes at most {lm.max_tokens};"
            " shorten it, or pass cut=True to keep its beginning",
            code="too_many_tokens",
            found=length,
            limit=lm.max_tokens,
            unit="tokens",
        )
    return encoded


def _tokens(
    lm: LoadedModel, encoded: BatchEncoding, texts: list[str], pairs: list[str] | None
) -> tuple[Tokens, ...]:
    encodings = encoded.encodings
    assert encodings is not None, "only fast tokenizers keep the offsets"
    rows = zip(texts, pairs or [""] * len(texts), encodings, strict=True)
    return tuple(
        lm.tokens(
            text=f"{text}\n{pair}" if pairs else text,
            ids=row.ids,
            offsets=_offsets(row.offsets, row.sequence_ids, second_starts=len(text) + 1),
            special=row.special_tokens_mask,
            attended=row.attention_mask,
        )
        for text, pair, row in rows
    )


def _offsets(
    offsets: list[tuple[int, int]], sentence_of: list[int | None], second_starts: int
) -> list[tuple[int, int]]:
    """Character offsets of each token; those of the second sentence count from its start."""
    return [
        (start + second_starts, end + second_starts) if sentence == 1 else (start, end)
        for (start, end), sentence in zip(offsets, sentence_of, strict=True)
    ]
