"""From which tokens an answer comes: attributions beside what really happens without each token.

In: a model, a text and a measure. Out: a `TokenScores` with a score of each token by each method.
`hidden` (and `masked`) intervene: the change of the number when no query may attend to the token in
any layer, and for models that have a mask token, when that stands in its place. They take n forward
passes as rows of a few batches, the last row of each without a change. `hidden` is the reference
with which the others are compared, on this very text. `alti` and `norms` say where from, `frozen`
which way. `weights` of the last layer and `rollout` are shown as history (docs/guide/why.md has the
correlations of all of them).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.errors import BadInput
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.correlations import spearman
from attnviz.experiment.first_order import slopes
from attnviz.experiment.frozen_pass import FrozenPass, frozen_pass
from attnviz.experiment.readouts import readout
from attnviz.experiment.rows import batches
from attnviz.experiment.token_shares import norm_and_alti, rollout
from attnviz.experiment.traced_run import TracedRun, traced_run
from attnviz.summary import counted, text_table
from attnviz.types import Tokens

PASS_TOKENS = 32
Method = Literal["hidden", "masked", "alti", "norms", "frozen", "weights", "rollout"]


@dataclass(frozen=True, eq=False)
class TokenScores:
    """`scores[method]` has a number for each token.

    `hidden`, `masked` and `frozen` are in the measure's unit and signed. `hidden` and `masked` are
    the change of the number without the token, `frozen` is the token's part of the number: where
    they agree that a token raises it, `hidden` is below 0 and `frozen` above. The others are
    shares, 0 to 1. The attribute `frozen` has the complete split, biases included.
    """

    measure: AnswerMeasure | None
    unit: str
    tokens: Tokens
    scores: dict[Method, Float64[np.ndarray, " token"]]
    frozen: FrozenPass

    @property
    def agreement(self) -> dict[Method, float]:
        """Spearman's rank correlation of each method's |score| with |hidden| on this text."""
        reference = np.abs(self.scores["hidden"])
        others = (method for method in self.scores if method != "hidden")
        return {method: spearman(np.abs(self.scores[method]), reference) for method in others}

    def strongest(self, method: Method) -> int:
        """The position of the token with the largest |score|."""
        return int(np.abs(self.scores[method]).argmax())

    def to_dict(self) -> dict[str, list[str] | list[int] | list[float]]:
        """A row for each token, as lists: its label, its position and each method's score."""
        labels = list(self.tokens.labels)
        scores = {str(method): values.tolist() for method, values in self.scores.items()}
        return {"token": labels, "position": list(range(len(labels))), **scores}

    def __repr__(self) -> str:
        methods = ", ".join(self.scores)
        return (
            f"TokenScores of {counted(len(self.tokens), 'token')} by {methods}; print() lists them"
        )

    def __str__(self) -> str:
        """The tokens with their scores, the largest first."""
        order = np.argsort(-np.abs(self.scores["hidden"]), kind="stable")
        columns = {"token": [f"{self.tokens.labels[at]} {at}" for at in order]}
        for method, scores in self.scores.items():
            columns[method] = [f"{scores[at]:.3f}" for at in order]
        return text_table(columns)


def tokens(prepared: CleanRun) -> TokenScores:
    """The score of each token by every method.

    Raises `BadInput` for a model that does not read one text with one stack of self-attention, and
    for a measure that has no slope.
    """
    resolved = readout(prepared)
    hidden = changes_when_hidden(prepared)
    masked = changes_when_masked(prepared)
    run = traced_run(prepared)
    _require_one_stack(run)
    reads = _read_positions(prepared, run)
    norms, alti = norm_and_alti(run)
    assert resolved.linear is not None, "slopes refuse what is not linear"
    frozen = frozen_pass(run, run.value(resolved.output), resolved.linear)
    last = run.calls[-1].weights().mean(0).double().cpu().numpy()
    scores: dict[Method, np.ndarray | None] = {
        "hidden": hidden,
        "masked": masked,
        "alti": reads @ alti,
        "norms": reads @ norms,
        "frozen": frozen.tokens,
        "weights": reads @ last,
        "rollout": reads @ rollout(run),
    }
    kept = {method: values for method, values in scores.items() if values is not None}
    return TokenScores(
        prepared.on, resolved.unit, next(iter(prepared.tokens.values()))[0], kept, frozen
    )


def _require_one_stack(run: TracedRun) -> None:
    kinds = {(call.kind, call.stack) for call in run.calls}
    if len(kinds) > 1 or run.calls[0].n_query != run.calls[0].n_key:
        raise BadInput(
            f"{run.prepared.lm.name} has several kinds of attention: token scores need an encoder"
            " or a decoder that reads one text",
            code="not_one_text",
            name=run.prepared.lm.name,
        )


def _read_positions(prepared: CleanRun, run: TracedRun) -> Float64[np.ndarray, " query"]:
    """The share of each position after the last attention in the answer; the shares sum to 1.

    The size of the slope by what each position was given there: 1 at the end for a next token,
    1 at [CLS] for a classifier that reads it, even for a mean over positions.
    """
    gradients = slopes(prepared)
    place = list(gradients.slope)[-1]
    sizes: Tensor = gradients.slope[place].norm(dim=(-2, -1)).double()
    assert len(sizes) == run.calls[-1].n_query
    shares: np.ndarray = (sizes / sizes.sum().clamp(min=torch.finfo(sizes.dtype).tiny)).numpy()
    return shares


def changes_when_hidden(prepared: CleanRun) -> Float64[np.ndarray, " token"]:
    """The change of the number with each token hidden from every query.

    Raises `BadInput` for a model that takes no attention mask.
    """
    ids, mask = _ids(prepared), prepared.inputs.get("attention_mask")
    shown = torch.ones_like(ids) if mask is None else mask

    def without(tokens: Sequence[int]) -> Mapping[str, Any]:
        rows = shown.repeat(len(tokens) + 1, 1)
        rows[torch.arange(len(tokens)), list(tokens)] = 0
        return {"attention_mask": rows}

    return _changes(prepared, ids.shape[1], without)


def changes_when_masked(prepared: CleanRun) -> Float64[np.ndarray, " token"] | None:
    """The change of the number with each token replaced by the mask token; None without one."""
    number = getattr(prepared.lm.tokenizer, "mask_token_id", None)
    if number is None:
        return None
    ids = _ids(prepared)

    def replaced(tokens: Sequence[int]) -> Mapping[str, Any]:
        rows = ids.repeat(len(tokens) + 1, 1)
        rows[torch.arange(len(tokens)), list(tokens)] = number
        return {"input_ids": rows}

    return _changes(prepared, ids.shape[1], replaced)


def _ids(prepared: CleanRun) -> Tensor:
    ids = prepared.inputs.get("input_ids")
    if not isinstance(ids, Tensor) or prepared.lm.kind not in ("encoder", "decoder"):
        raise BadInput(
            f"{prepared.lm.name} does not read one text: token scores need an encoder or a decoder"
            " that reads one text",
            code="not_one_text",
            name=prepared.lm.name,
        )
    return ids


def _changes(prepared: CleanRun, n: int, rows_of: Any) -> np.ndarray:
    changes: list[float] = []
    lm = prepared.lm
    for rows in batches(n, PASS_TOKENS):
        tokens = range(n)[rows]
        inputs = prepared.repeated(len(tokens) + 1) | rows_of(tokens)
        with lm.lock, torch.no_grad():
            output = lm.model(**inputs, **prepared.options)
        numbers = readout(prepared).read(as_mapping(output)).double().cpu()
        changes += (numbers[:-1] - numbers[-1]).tolist()
    return np.array(changes)
