"""The source words that a model attends to while it predicts each word of its target.

In: a capture of an encoder-decoder, whose cross-attention has one row for each position of the
decoder. Out: an `Alignment` in words. Position t of the decoder has read the target's tokens before
token t and predicts token t: its row belongs to token t (Koehn and Knowles 2017 call reading one
row later the mistake to avoid). Pieces of a word are merged so that mass is conserved: summed over
the keys of a source word, averaged over the rows of a target word.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64

from attnviz.attention.capture import Capture
from attnviz.models.loaded_model import LoadedModel
from attnviz.tokens.words import STARTS, Join, Word, merged, words
from attnviz.types import Tokens


@dataclass(frozen=True, eq=False)
class Alignment:
    """`weights[layer, head, t]` is a distribution over the source's words for target word t.

    Target words count rows: `target[t].start` is the first row, the one that predicts its first
    token. `probabilities` has what the model gives each target word after those before it, the
    product over its pieces; None where the capture has no logits, as after writing.
    """

    source: tuple[Word, ...]
    target: tuple[Word, ...]
    weights: Float32[np.ndarray, "layer head target source"]
    probabilities: Float64[np.ndarray, "target"] | None

    @property
    def probability(self) -> float | None:
        """Of the whole target, its end included: the product over its words."""
        return None if self.probabilities is None else float(self.probabilities.prod())


def align(
    lm: LoadedModel | None, capture: Capture, target: str | None = None, batch: int = 0
) -> Alignment:
    """The alignment of one sentence of a capture. `target` is the text that the decoder was given.

    Without it, what the model wrote is aligned; the last row, which predicts a token that the
    capture does not know, is left out then. So it is of a capture whose model is not there
    (`lm=None`); its pieces are joined by the signs of their vocabulary.
    """
    join: Join = _spelled if lm is None else lm.text_tokenizer().convert_tokens_to_string
    predicted = _read(capture, batch) if lm is None else _predicted(lm, capture, target, batch)
    source = words(_unpadded(capture.tokens_of(batch, "encoder")), join)
    of_target = words(predicted, join)
    weights = capture.all_weights(batch, kind="cross", stack="decoder")
    return Alignment(
        source=source,
        target=of_target,
        weights=merged(weights, of_target, source),
        probabilities=_probabilities(capture, predicted, of_target, batch),
    )


def _predicted(lm: LoadedModel, capture: Capture, target: str | None, batch: int) -> Tokens:
    """The tokens that the rows of the decoder predict, as far as they are known."""
    read = _unpadded(capture.tokens_of(batch, "decoder"))
    ids: list[int] = read.ids[1:].tolist()
    if target is not None:
        whole: list[int] = lm.text_tokenizer()(text_target=target)["input_ids"]
        if whole[: len(ids)] == ids and len(whole) > len(ids):
            ids = whole[: len(ids) + 1]
    special = set(lm.text_tokenizer().all_special_ids)
    return lm.tokens(
        text="",
        ids=ids,
        offsets=[(0, 0)] * len(ids),
        special=[int(token in special) for token in ids],
        attended=[1] * len(ids),
    )


def _spelled(pieces: list[str]) -> str:
    """Pieces as text, without a tokenizer: a sign for a space is one."""
    joined = "".join(pieces)
    for sign in STARTS:
        joined = joined.replace(sign, " ")
    return joined


def _read(capture: Capture, batch: int) -> Tokens:
    """The decoder's tokens after the first, each of which the row before it predicts."""
    tokens = _unpadded(capture.tokens_of(batch, "decoder"))
    return replace(
        tokens,
        text="",
        ids=tokens.ids[1:],
        pieces=tokens.pieces[1:],
        labels=tokens.labels[1:],
        offsets=tokens.offsets[1:],
        special=tokens.special[1:],
        padding=tokens.padding[1:],
    )


def _unpadded(tokens: Tokens) -> Tokens:
    """The tokens without the padding at their end."""
    n = int((~tokens.padding).sum())
    return Tokens(
        text=tokens.text,
        ids=tokens.ids[:n],
        pieces=tokens.pieces[:n],
        labels=tokens.labels[:n],
        offsets=tokens.offsets[:n],
        special=tokens.special[:n],
        padding=tokens.padding[:n],
    )


def _probabilities(
    capture: Capture, predicted: Tokens, target: tuple[Word, ...], batch: int
) -> Float64[np.ndarray, "target"] | None:
    if capture.logits is None or capture.logits.dim() != 3:
        return None
    tokens = token_probabilities(capture.logits[batch], predicted.ids)
    return np.array([tokens[word.start : word.stop].prod() for word in target])


def token_probabilities(
    logits: torch.Tensor, ids: Int64[np.ndarray, "token"]
) -> Float64[np.ndarray, "token"]:
    """softmax(logits) of each token, in the row that predicts it: its own place in the target."""
    rows = logits[: len(ids)].double().softmax(-1)
    own = rows.gather(-1, torch.from_numpy(ids).to(rows.device)[:, None])[:, 0]
    return np.asarray(own.cpu().numpy())
