"""Texts with as many tokens as rows of one batch, and changed copies of them.

In: a model, texts and a measure for each. Out: `TextGroup`s. Nothing is padded: texts of one length
share a batch, so that a row is what its text is alone, but for the rounding of a batch (2e-5 of a
logit at most). A measure reads its own text's rows. What was read is kept, the attention calls of a
pass are not: many long texts would not fit.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.capture.changed.layout import Layout, layout_of, remember
from attnviz.capture.changed.run import changes_made, unchanged
from attnviz.capture.plan.planners import plan
from attnviz.capture.record.recorder import record
from attnviz.capture.request import Request
from attnviz.capture.token_names import token_names
from attnviz.errors import AttnVizError, require_wanted
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.experiment.clean_run import (
    CleanRun,
    as_mapping,
    as_target,
    reads_last_row,
    takes,
)
from attnviz.experiment.dataflow.trace import Trace
from attnviz.experiment.readouts import Readout, readout
from attnviz.experiment.rows import require_rows
from attnviz.experiment.traced_run import TracedRun
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens

BATCH_TOKENS = 512  # of a pass that is kept whole while it is read: 0.9 GiB of GPT-2 small
TextAndMeasure = tuple[str, AnswerMeasure]


@dataclass(frozen=True, eq=False)
class TextGroup:
    """Texts of one length: `places` are theirs in the set, `runs` theirs alone, without calls."""

    lm: LoadedModel
    places: tuple[int, ...]
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]
    runs: tuple[CleanRun, ...]
    layout: Layout

    @property
    def n_token(self) -> int:
        """The number of tokens of each text."""
        return self.runs[0].n_token

    def tokens(self, text: int) -> Tokens:
        """The tokens of one of the texts."""
        return next(iter(self.runs[text].tokens.values()))[0]

    def readouts(self) -> list[Readout]:
        """The resolved measure of each text."""
        return [readout(run) for run in self.runs]

    def clean(self) -> Float64[np.ndarray, " text"]:
        """The number of each text without changes."""
        numbers = []
        for place, run in zip(self.places, self.runs, strict=True):
            with numbered(place):
                numbers.append(float(readout(run).read(run.clean)[0]))
        return np.array(numbers)

    def rows_of(self, texts: Sequence[int]) -> dict[str, Any]:
        """The inputs of a batch with these texts, one row for each; a text may come again."""
        return _rows(self.inputs, torch.tensor(texts, device=self.lm.key.device), len(self.runs))

    def changed(
        self, texts: Sequence[int], placed: Mapping[CallPlace, PlacedChanges]
    ) -> Float64[np.ndarray, " row"]:
        """The number of each row of a batch of these texts, with changes."""
        lm = self.lm
        with lm.lock, torch.no_grad(), changes_made(lm.model, placed):
            output = as_mapping(lm.model(**self.rows_of(texts), **self.options))
        numbers = np.full(len(texts), np.nan)
        for text in dict.fromkeys(texts):
            rows = [row for row, other in enumerate(texts) if other == text]
            own = _rows(output, torch.tensor(rows, device=lm.key.device), len(texts))
            read = readout(self.runs[text]).read(own).double().cpu().numpy()
            require_rows(lm.name, len(rows), len(read))
            numbers[rows] = read
        return numbers

    def recorded(self, texts: Sequence[int]) -> list[AttentionCall]:
        """The attention calls of a clean pass of some of the texts."""
        lm = self.lm
        with lm.lock, unchanged(), torch.no_grad(), record(lm.model) as calls:
            lm.model(**self.rows_of(texts), **self.options)
        return list(calls)

    def traced(self, texts: Sequence[int]) -> TracedRun:
        """A clean pass of some of the texts with every operation written down."""
        lm, inputs = self.lm, self.rows_of(texts)
        with (
            lm.lock,
            unchanged(),
            torch.no_grad(),
            record(lm.model) as calls,
            Trace(lm.model) as trace,
        ):
            output = lm.model(**inputs, **self.options)
        run = replace(self.runs[texts[0]], inputs=inputs)
        return TracedRun(run, tuple(calls), trace, as_mapping(output))

    def parts(self) -> list[range]:
        """The texts in batches of at most `BATCH_TOKENS` tokens."""
        size, n = max(1, BATCH_TOKENS // self.n_token), len(self.runs)
        return [range(start, min(start + size, n)) for start in range(0, n, size)]


def groups_of(
    lm: LoadedModel, texts: Sequence[TextAndMeasure], cancel: threading.Event | None = None
) -> tuple[TextGroup, ...]:
    """The groups of some texts, the shortest first, each run once without changes.

    Raises what `attnviz.capture` raises, with the number of the text that it is about.
    """
    lengths: dict[tuple[int, ...], list[int]] = {}
    for place, (text, on) in enumerate(texts):
        require_wanted(cancel)
        with numbered(place):
            planned = plan(lm, _request([(text, on)]))
        length = tuple(len(rows[0]) for rows in planned.tokens.values())  # of text and target
        lengths.setdefault(length, []).append(place)
    options: dict[str, Any] = {**architecture.without_cache(lm.model, ())}
    if all(reads_last_row(on) for _, on in texts) and takes(lm, "logits_to_keep"):
        options["logits_to_keep"] = 1
    return tuple(
        _group(lm, places, [texts[place] for place in places], options, cancel)
        for _, places in sorted(lengths.items())
    )


@contextmanager
def numbered(place: int) -> Iterator[None]:
    """An error inside the block says the number of the text that it is about."""
    try:
        yield
    except AttnVizError as error:
        details: dict[str, Any] = error.details
        raise type(error)(f"text {place}: {error}", code=error.code, **details) from error


def _request(texts: Sequence[TextAndMeasure]) -> Request:
    targets = [as_target(on, None) for _, on in texts]
    known = [target for target in targets if isinstance(target, str)]
    return Request.of([text for text, _ in texts], target=known or None)


def _group(
    lm: LoadedModel,
    places: Sequence[int],
    texts: Sequence[TextAndMeasure],
    options: Mapping[str, Any],
    cancel: threading.Event | None,
) -> TextGroup:
    planned, n = plan(lm, _request(texts)), len(texts)
    runs, layout = [], None
    size = max(1, BATCH_TOKENS // max(1, len(next(iter(planned.tokens.values()))[0])))
    for start in range(0, n, size):
        require_wanted(cancel)
        rows = torch.arange(start, min(start + size, n), device=lm.key.device)
        inputs = _rows(planned.inputs, rows, n)
        with lm.lock, unchanged(), torch.no_grad(), record(lm.model) as calls:
            output = as_mapping(lm.model(**inputs, **options))
        layout = layout or layout_of(calls, len(rows))
        names = token_names(lm, planned, calls, None).by_stack
        for row, text in enumerate(texts[start : start + size]):
            one = torch.tensor([row], device=lm.key.device)
            runs.append(
                CleanRun(
                    lm,
                    _request([text]),
                    text[1],
                    _rows(inputs, one, len(rows)),
                    options,
                    {stack: tokens[start + row :][:1] for stack, tokens in names.items()},
                    (),
                    _rows(output, one, len(rows)),
                )
            )
    assert layout is not None, "a group has a text"
    remember(lm, layout)
    return TextGroup(lm, tuple(places), planned.inputs, options, tuple(runs), layout)


def _rows(values: Mapping[str, Any], rows: Tensor, n: int) -> dict[str, Any]:
    """Some rows of every tensor that has n; what was one tensor under several names stays one."""
    known: dict[int, Any] = {}
    for value in values.values():
        has_rows = isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] == n
        known[id(value)] = value[rows] if has_rows else value
    return {name: known[id(value)] for name, value in values.items()}
