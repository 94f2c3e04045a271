"""The loss of the answer with each token: hidden from every query, or replaced by a mask token.

In: prepared inputs and a measure. Out: for each token the change of the number when no query may
attend to it, in any layer, and for models that have a mask token, when it stands in its place. n
forward passes as rows of a few batches, the last row of each without a change. This is what every
score of "where from" is held against.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.errors import BadInput
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.readouts import readout

PASS_TOKENS = 32


def hidden(prepared: CleanRun) -> Float64[np.ndarray, " token"]:
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


def masked(prepared: CleanRun) -> Float64[np.ndarray, " token"] | None:
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
    for start in range(0, n, PASS_TOKENS):
        tokens = range(start, min(start + PASS_TOKENS, n))
        inputs = prepared.repeated(len(tokens) + 1) | rows_of(tokens)
        with lm.lock, torch.no_grad():
            output = lm.model(**inputs, **prepared.options)
        numbers = readout(prepared).read(as_mapping(output)).double().cpu()
        changes += (numbers[:-1] - numbers[-1]).tolist()
    return np.array(changes)
