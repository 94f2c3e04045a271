"""The final project, "Find a head, defend it": what texts say for and against a claim on a head.

In: a capture function, a model, a head, a measure, texts. Out: a `Defence`: for each text the
head's share of attention by that measure, the share of even attention (chance), the mean share of
all other heads (control), and how far the model's answer moves without the head, beside the mean
over the other heads of its layer. A text without the pattern has no share. The text with the
lowest share against chance speaks most against the claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.changes.make import ablate
from attnviz.errors import BadInput
from attnviz.metrics.measures import Share, measured
from attnviz.teach.course.recipe import CaptureText
from attnviz.types import HeadId

MOST_TEXTS = 8
MOST_CHARS = 300


@dataclass(frozen=True)
class TextEvidence:
    """One text; shares between 0 and 1, NaN without the pattern.

    `moved` is half the sum of |p − p'| over the model's answer without the head, `moved_others` its
    mean over the other heads of the layer; None for a model that gives no answer.
    """

    text: str
    share: float
    chance: float
    others: float
    moved: float | None
    moved_others: float | None


@dataclass(frozen=True)
class Defence:
    """A claim's evidence on all its texts."""

    model: str
    head: HeadId
    measure: Share
    evidence: tuple[TextEvidence, ...]

    @property
    def against(self) -> TextEvidence | None:
        """The text that speaks most against the claim; None if no text has the pattern."""
        counted = [each for each in self.evidence if np.isfinite(each.share)]
        return min(counted, key=lambda each: each.share - each.chance, default=None)

    @property
    def n_above(self) -> int:
        """The number of texts on which the share is above chance and above the other heads'."""
        return sum(each.share > max(each.chance, each.others) for each in self.evidence)


def defend(
    capture: CaptureText, model: str, head: HeadId, measure: Share, texts: Sequence[str]
) -> Defence:
    """The evidence. Raises `BadInput` for no text, or too many."""
    lines = [text.strip()[:MOST_CHARS] for text in texts if text.strip()]
    if not 0 < len(lines) <= MOST_TEXTS:
        raise BadInput(
            f"{len(lines)} texts: give 1 to {MOST_TEXTS}, one a line",
            code="bad_text_count",
            found=len(lines),
            most=MOST_TEXTS,
        )
    evidence = tuple(_of_text(capture, model, head, measure, text) for text in lines)
    return Defence(model, head, measure, evidence)


def _of_text(
    capture: CaptureText, model: str, head: HeadId, measure: Share, text: str
) -> TextEvidence:
    plain = capture(model, text)
    weights = plain.all_weights()
    own = measured(weights, plain.tokens, measures=(measure,))[measure]
    even = measured(_even(plain, head, weights), plain.tokens, measures=(measure,))[measure]
    is_other = np.ones(own.shape, dtype=bool)
    is_other[head.layer, head.head] = False
    before = _answer(plain)
    moved = None
    others: list[float] = []
    if before is not None:
        for number in range(own.shape[1]):
            off = capture(model, text, changes=(ablate(HeadId(head.layer, number)),))
            after = _answer(off)
            assert after is not None
            distance = float(np.abs(after - before).sum() / 2)
            if number == head.head:
                moved = distance
            else:
                others.append(distance)
    return TextEvidence(
        text,
        float(own[head.layer, head.head]),
        float(even[0, 0]),
        float(np.mean(own[is_other])),
        moved,
        float(np.mean(others)) if others else None,
    )


def _even(
    plain: Capture, head: HeadId, weights: Float32[np.ndarray, "layer head query key"]
) -> Float32[np.ndarray, "1 1 query key"]:
    """Even attention of one head over the keys to which each of its queries may attend."""
    inputs = plain.call(head.layer).inputs
    may = inputs.may_attend(head.head) if isinstance(inputs, AttentionInputs) else None
    open_cells = np.ones(weights.shape[2:], dtype=np.float32)
    if may is not None:
        open_cells = may.cpu().numpy().astype(np.float32)
    even: np.ndarray = open_cells / np.maximum(open_cells.sum(axis=1, keepdims=True), 1)
    return even[None, None].astype(np.float32)


def _answer(capture: Capture) -> np.ndarray | None:
    """The model's probabilities: of the next token, or of its classes; None for neither."""
    logits: Tensor | None = capture.logits
    if logits is None:
        return None
    last = logits[0, -1] if logits.ndim == 3 else logits[0]
    probabilities: np.ndarray = last.double().softmax(-1).cpu().numpy()
    return probabilities
