"""Activation patching: the heads that carry the difference between two texts to the answer.

In: a text, a source text with as many tokens and another answer, and a measure; an error where a
token of one stands at another place in the other, or where the answers are the same. Out: a
`Patching`: the number after each head's output, pattern or values were taken from the source, every
head in rows of a batch, and the share of the difference that comes with it (Meng et al. 2022; Wang
et al. 2022). The control takes the same stage from runs in which random tokens, drawn from the
model's reference texts, stand where the two texts differ: what another word would bring as well is
not particular to the source.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import cast

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.capture.changed.layout import Layout
from attnviz.capture.changed.references import reference_of
from attnviz.capture.plan.plan import TokensByStack
from attnviz.capture.record.recorder import record
from attnviz.changes.kinds import PATCHED, Patch, PatchedStage
from attnviz.changes.site import place_among
from attnviz.errors import BadInput, not_allowed, require_callback, require_one_of
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.effects import sites_of
from attnviz.experiment.readouts import readout
from attnviz.experiment.rows import PASS_ROWS, Batches, RowChange, clean_pass, row_changes
from attnviz.summary import counted, shortened
from attnviz.types import ModelKey, Site, Where, ignore, named_tokens

LEAST = 1e-3  # two numbers that are nearer have no difference to carry: rounding is 7e-6
TEXT = "input_ids"
TARGET = "decoder_input_ids"
SEED = 0
STAGES: tuple[PatchedStage, ...] = ("mixed", "weights", "v")
DRAWS = 4
CONTROLLED = 3  # heads of each stage, the strongest, that get a control
Place = tuple[int, int]  # (stage, head)


@dataclass(frozen=True, eq=False)
class Patching:
    """The measure's number `before`, of the `source`, and `after` each head's stage was patched.

    `stages` are "mixed" (the head's output), "weights" (its pattern), "v" (its values), "q" or "k".
    `controls` has the number after the same patch from runs with random tokens at the places
    `differing`, where the texts differ; NaN for heads that have no control. `spread` is the largest
    difference between a batch's clean row and `before`.
    """

    measure: AnswerMeasure | None
    unit: str
    before: float
    source: float
    heads: tuple[Site, ...]
    stages: tuple[PatchedStage, ...]
    after: Float64[np.ndarray, "stage head"]
    controls: Float64[np.ndarray, "draw stage head"]
    differing: tuple[int, ...]
    spread: float
    seconds: float

    @property
    def shares(self) -> Float64[np.ndarray, "stage head"]:
        """The share of the difference that each patch carries.

        1 is the answer of the source, 0 the answer without a patch; below 0 the answer moved away.
        """
        return self._share(self.after)

    @property
    def control_shares(self) -> Float64[np.ndarray, "draw stage head"]:
        """The share that the same patch from each random run carries; NaN without a control."""
        return self._share(self.controls)

    def of(self, head: Where, stage: PatchedStage = "mixed") -> float:
        """The share of one patch; `BadInput` for a head or stage that was not patched."""
        return float(self.shares[self._place(head, stage)])

    def control_of(
        self, head: Where, stage: PatchedStage = "mixed"
    ) -> tuple[float, float, float] | None:
        """(the mean share of the controls, the smallest, the largest); None without controls."""
        shares = self.control_shares[(slice(None), *self._place(head, stage))]
        if not shares.size or np.isnan(shares).any():
            return None
        return float(shares.mean()), float(shares.min()), float(shares.max())

    def strongest(self, count: int = 1, stage: PatchedStage = "mixed") -> tuple[Site, ...]:
        """The heads whose patch carries the largest share, the largest first."""
        row = self.shares[self._stage(stage)]
        return tuple(self.heads[at] for at in np.argsort(-row, kind="stable")[:count])

    def _share(self, numbers: np.ndarray) -> np.ndarray:
        return (numbers - self.before) / (self.source - self.before)

    def _place(self, head: Where, stage: PatchedStage) -> tuple[int, int]:
        return self._stage(stage), place_among(head, self.heads, "was not patched; these were:")

    def _stage(self, stage: PatchedStage) -> int:
        require_one_of("stage", stage, self.stages)
        return self.stages.index(stage)

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for each stage and head, as lists; `control` is NaN where there is none."""
        controls = (
            self.control_shares.mean(0) if len(self.controls) else np.full_like(self.after, np.nan)
        )
        return {
            "head": [str(head) for _ in self.stages for head in self.heads],
            "stage": [str(stage) for stage in self.stages for _ in self.heads],
            "after": self.after.ravel().tolist(),
            "share": self.shares.ravel().tolist(),
            "control": controls.ravel().tolist(),
        }

    def __repr__(self) -> str:
        first = self.strongest()[0] if "mixed" in self.stages else self.heads[0]
        shares = ", ".join(f"{stage} {self.of(first, stage):.0%}" for stage in self.stages)
        return (
            f"Patching of {counted(len(self.heads), 'head')} from {self.source:.4g} into"
            f" {self.before:.4g} {self.unit}: {first} carries {shares}"
        )


def patching(
    prepared: CleanRun,
    source: CleanRun,
    *,
    stages: Sequence[str] = STAGES,
    heads: Sequence[Where] | str | None = None,
    draws: int = DRAWS,
    rows: int = PASS_ROWS,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Patching:
    """Each stage of every head, or of `heads`, taken from the run of `source` into `prepared`.

    The first one's measure counts. The strongest heads of each stage get `draws` controls. Raises
    `BadInput` if the tokens of the two do not stand at the same places, or if the measure does not
    tell the two answers apart.
    """
    require_callback(progress)
    start = time.perf_counter()
    places = differing_places(prepared, source)
    resolved, layout = readout(prepared), prepared.layout
    kept, chosen = _checked(stages), sites_of(layout, heads)
    clean = clean_pass(prepared)
    wanted = float(resolved.read(source.clean)[0])
    require_apart(clean.value, wanted, resolved.unit)
    work = Batches(prepared, clean, rows, progress, cancel)
    patches = _Patches(prepared.lm.key, layout, chosen, kept)

    every = [(stage, head) for stage in range(len(kept)) for head in range(len(chosen))]
    numbers, off = work.run(patches.rows(source.calls, every))
    after = numbers.reshape(len(kept), len(chosen))
    controls = np.full((draws, *after.shape), np.nan)
    if draws and places:
        shares = (after - clean.value) / (wanted - clean.value)
        largest = np.argsort(-shares, axis=1, kind="stable")[:, :CONTROLLED]
        strongest = [(stage, int(head)) for stage, some in enumerate(largest) for head in some]
        calls = random_runs(prepared, source, draws)
        rows_by_draw = [patches.rows(calls, strongest, draw) for draw in range(draws)]
        numbers, more = replace(work, progress=ignore).run(list(chain(*rows_by_draw)))
        controls[(slice(None), *np.transpose(strongest))] = numbers.reshape(draws, -1)
        off = max(off, more)
    return Patching(
        measure=prepared.on,
        unit=resolved.unit,
        before=clean.value,
        source=wanted,
        heads=chosen,
        stages=kept,
        after=after,
        controls=controls,
        differing=places.get(TEXT, ()),
        spread=off,
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True, eq=False)
class _Patches:
    """The rows of some heads' stages, each taken from a run."""

    key: ModelKey
    layout: Layout
    heads: tuple[Site, ...]
    stages: tuple[PatchedStage, ...]

    def rows(
        self, calls: Sequence[AttentionCall], places: Sequence[Place], batch: int = 0
    ) -> list[list[RowChange]]:
        """A row for each (stage, head), from row `batch` of the calls of a run."""
        # without tokens every position of the run counts: one text is not padded
        nameless: TokensByStack = {None: (named_tokens(()),) * calls[0].n_batch}
        run = Capture(self.key, tuple(calls), nameless)
        return [
            row_changes(Patch(self.heads[head], self.stages[stage], run, batch), self.layout)
            for stage, head in places
        ]


def _checked(stages: Sequence[str]) -> tuple[PatchedStage, ...]:
    if not stages or isinstance(stages, str):
        raise not_allowed("stages", stages, f"a list of {', '.join(PATCHED)}")
    for stage in stages:
        require_one_of("stages", stage, PATCHED)
    return cast(tuple[PatchedStage, ...], tuple(dict.fromkeys(stages)))


def random_runs(prepared: CleanRun, source: CleanRun, draws: int) -> tuple[AttentionCall, ...]:
    """The calls of the source with random tokens where it differs, a row for each draw.

    A token that stands at several of these places becomes the same random token at each.
    """
    inputs = source.repeated(draws)
    pool, draw_from = _pool(source), random.Random(SEED)
    for name, places in differing_places(prepared, source).items():
        ids = inputs[name].clone()
        used = {*ids[0].tolist(), *prepared.inputs[name][0].tolist()}
        free = [token for token in pool if token not in used]
        for row in ids:
            tokens = dict.fromkeys(row[list(places)].tolist())
            chosen = dict(zip(tokens, draw_from.sample(free, len(tokens)), strict=True))
            for place in places:
                row[place] = chosen[int(row[place])]
        inputs[name] = ids
    lm = source.lm
    with lm.lock, torch.no_grad(), record(lm.model) as calls:
        lm.model(**inputs, **source.options)
    return tuple(calls)


def _pool(source: CleanRun) -> list[int]:
    """The tokens of the model's reference texts; of its vocabulary where it has none."""
    lm = source.lm
    tokenizer = lm.text_tokenizer()
    special = set(tokenizer.all_special_ids)
    try:
        texts = reference_of(lm).texts
    except BadInput:
        texts = ()
    ids = {token for text in texts for token in lm.tokenize(text)["input_ids"]}
    return sorted((ids or set(range(len(tokenizer)))) - special)


def differing_places(prepared: CleanRun, source: CleanRun) -> dict[str, tuple[int, ...]]:
    """The places at which the tokens of both differ, by the name of the input.

    Raises `BadInput` unless the tokens stand at the same places.
    """
    _require_same_shapes(prepared, source)
    differing = {}
    for name in (TEXT, TARGET):
        ids, others = prepared.inputs.get(name), source.inputs.get(name)
        if not (isinstance(ids, Tensor) and isinstance(others, Tensor)):
            continue
        own, other = ids[0].tolist(), others[0].tolist()
        places = tuple(
            at for at, pair in enumerate(zip(own, other, strict=True)) if len(set(pair)) > 1
        )
        blocks = SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks()
        if sum(block.size for block in blocks) > len(own) - len(places):
            shifted = next(block for block in blocks if block.size and block.a != block.b)
            raise _shifted(prepared, own[shifted.a], shifted.a, shifted.b)
        if places:
            differing[name] = places
    return differing


def _require_same_shapes(prepared: CleanRun, source: CleanRun) -> None:
    shapes = [
        [(call.module, call.n_query, call.n_key) for call in run.calls]
        for run in (prepared, source)
    ]
    if shapes[0] != shapes[1]:
        raise BadInput(
            f"the two texts have {prepared.n_token} and {source.n_token} tokens, and numbers go"
            " from each token to the one at its place; give two texts with as many tokens",
            code="token_counts",
            found=prepared.n_token,
            wanted=source.n_token,
        )


def _shifted(prepared: CleanRun, token: int, at: int, other: int) -> BadInput:
    label = shortened(prepared.lm.labels_of([token])[0])
    return BadInput(
        f"the tokens of the two texts do not stand at the same places: {label!r} is token {at} of"
        f" one and {other} of the other; give two texts whose differing words have the same number"
        " of tokens",
        code="tokens_shifted",
        token=label,
        at=at,
        other=other,
    )


def require_apart(before: float, wanted: float, unit: str) -> None:
    if not abs(wanted - before) >= LEAST:
        raise BadInput(
            f"the two answers are the same, {before:.4g} and {wanted:.4g} {unit}: there is no"
            " difference that a head could carry; give another measure or another text",
            code="same_answer",
            before=f"{before:.4g}",
            source=f"{wanted:.4g}",
        )
