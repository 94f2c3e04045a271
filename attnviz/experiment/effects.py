"""The effect of each head alone on the answer: removed in turn, every other head as it was.

In: a model, a text and a measure. Out: `Effects`: the number without changes, and with each head's
output replaced: by its mean over a corpus, by draws from that corpus, or by zero; or with its
attention made uniform. Exact: every head is run, many at a time as rows of one batch with a clean
row in each; or a first-order estimate from one backward pass, for comparison.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64

from attnviz.attention.stage_changes import Pairs
from attnviz.capture.changed.corpus import of_ablation
from attnviz.capture.changed.layout import Layout
from attnviz.changes.kinds import Ablate, AblationKind, Change, Corpus, CorpusTexts, Pattern
from attnviz.changes.make import ablate
from attnviz.changes.site import place_among, site
from attnviz.errors import bad_argument, bad_kind, require_callback, require_one_of, require_wanted
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.correlations import agreement
from attnviz.experiment.first_order import slopes
from attnviz.experiment.readouts import readout
from attnviz.experiment.rows import PASS_ROWS, Batches, RowChange, clean_pass, row_changes
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import counted, shortened
from attnviz.types import Kind, Site, Stack, Where, ignore

ReplacementKind = Literal[AblationKind, "even"]
REPLACEMENTS: tuple[ReplacementKind, ...] = ("mean", "resample", "zero", "even")
DRAWS = 4
CORPUS_PART = 0.3  # of the progress, where a corpus has to be recorded first


@dataclass(frozen=True, eq=False)
class OtherHeads:
    """All heads but one, each taken away in the same way, or its look: the control of that one.

    `median` is that of |changes|, `most` the largest, that of `strongest`; 0 without other heads.
    """

    heads: tuple[Site, ...]
    changes: Float64[np.ndarray, " head"]

    @property
    def median(self) -> float:
        return float(np.median(np.abs(self.changes))) if self.heads else 0.0

    @property
    def most(self) -> float:
        return float(np.abs(self.changes).max(initial=0.0))

    @property
    def strongest(self) -> Site:
        return self.heads[int(np.abs(self.changes).argmax())]


@dataclass(frozen=True, eq=False)
class Effects:
    """The measure's number `before`, and `after` with each of `heads` taken away alone.

    `unit` is the measure's, `to` says what a head was replaced by and `corpus` over what. `spread`
    is the largest difference between a batch's clean row and `before`: what is smaller than it
    cannot be told from rounding. `exact` is False for a first-order estimate. `notes` say what a
    reader has to know of this model. Without a `measure` the number is how far the whole answer
    moves.
    """

    measure: AnswerMeasure | None
    unit: str
    to: ReplacementKind
    corpus: str
    before: float
    heads: tuple[Site, ...]
    after: Float64[np.ndarray, " head"]
    spread: float
    seconds: float
    exact: bool = True
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> Float64[np.ndarray, " head"]:
        """`after` − `before`: below 0 where the head had raised the number."""
        return self.after - self.before

    @property
    def order(self) -> tuple[Site, ...]:
        """The heads from the largest |change| to the smallest."""
        return tuple(self.heads[at] for at in np.argsort(-np.abs(self.changes), kind="stable"))

    @property
    def control(self) -> Site:
        """The head whose absence changes least: an example of no effect, no measure of chance."""
        return self.order[-1]

    def of(self, head: Where) -> float:
        """The change without one head; `BadInput` for a head that was not taken away."""
        place = place_among(head, self.heads, "was not taken away; the effects are those of")
        return float(self.changes[place])

    def others(self, head: Where) -> OtherHeads:
        """All other heads that were taken away, the control of this one.

        >>> effects = attnviz.experiment("stories", "Lily gave the red ball to").effects()
        >>> len(effects.others("L2.H1").heads)
        15
        """
        place = place_among(head, self.heads, "was not taken away; the effects are those of")
        heads = (*self.heads[:place], *self.heads[place + 1 :])
        return OtherHeads(heads, np.delete(self.changes, place))

    def agreement(self, other: "Effects") -> tuple[float, float]:
        """(Pearson's, Spearman's) correlation with other effects of the same heads.

        Of an estimate with the exact changes, for instance; the second of sizes alone. A high rank
        correlation can hide that the largest change is misjudged. NaN where one has no spread.
        """
        if other.heads != self.heads:
            raise bad_argument(
                f"these are effects of {counted(len(self.heads), 'head')} and of"
                f" {len(other.heads)}; take the same heads away",
                name="other",
                found=repr(other),
                allowed="effects of the same heads",
            )
        return agreement(self.changes, other.changes)

    def grid(
        self, kind: Kind = "self", stack: Stack | None = None
    ) -> Float64[np.ndarray, "layer head"]:
        """The changes of one attention of one stack, NaN where there is no such head.

        Raises `BadInput` where the model has no such attention.
        """
        mine = {
            (head.layer, head.head or 0): change
            for head, change in zip(self.heads, self.changes, strict=True)
            if (head.kind, head.stack) == (kind, stack)
        }
        if not mine:
            raise bad_kind(kind, stack, ((head.kind, head.stack) for head in self.heads))
        layers, heads = zip(*mine, strict=True)
        table = np.full((1 + max(layers), 1 + max(heads)), np.nan)
        table[layers, heads] = list(mine.values())
        return table

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for each head, as lists: its name, the number without it, and the change."""
        return {
            "head": list(map(str, self.heads)),
            "after": self.after.tolist(),
            "change": self.changes.tolist(),
        }

    def __repr__(self) -> str:
        first = ", ".join(f"{head} {self.of(head):+.3g}" for head in self.order[:3])
        how = "exact" if self.exact else "first-order estimate"
        over = {"mean": " over ", "resample": " from "}.get(self.to, "")
        corpus = f"{over}{shortened(self.corpus)}" if self.corpus else ""
        return (
            f"Effects ({how}, {self.to}{corpus}) of {counted(len(self.heads), 'head')} on"
            f" {self.before:.4g} {self.unit}: {first}"
        )


def effects(
    prepared: CleanRun,
    *,
    to: ReplacementKind = "mean",
    corpus: CorpusTexts | None = None,
    heads: Sequence[Where] | str | None = None,
    exact: bool = True,
    rows: int = PASS_ROWS,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Effects:
    """The effect of every head, or of each of `heads`, taken away alone.

    `rows` go into one batch. `progress` is told what fraction is done; raises `Cancelled` soon
    after `cancel` was set.
    """
    require_callback(progress)
    start = time.perf_counter()
    resolved, layout = readout(prepared), prepared.layout
    recorded = 0.0

    def recording(fraction: float) -> None:
        nonlocal recorded
        require_wanted(cancel)
        recorded = CORPUS_PART * fraction
        progress(recorded)

    def measuring(fraction: float) -> None:
        progress(recorded + (1 - recorded) * fraction)

    replacement = replacement_of(prepared.lm, to, corpus, recording)
    chosen = sites_of(layout, heads)
    changes = [replacement.changes(layout, head) for head in chosen]
    clean = clean_pass(prepared)
    if exact:
        after, spread = Batches(prepared, clean, rows, measuring, cancel).run(changes)
    else:
        after, spread = clean.value + first_order(prepared, changes), 0.0
        progress(1.0)
    return Effects(
        measure=prepared.on,
        unit=resolved.unit,
        to=replacement.to,
        corpus=replacement.name,
        before=clean.value,
        heads=chosen,
        after=after,
        spread=spread,
        seconds=time.perf_counter() - start,
        exact=exact,
        notes=notes_on(layout),
    )


def first_order(
    prepared: CleanRun, changes: Sequence[Sequence[RowChange]]
) -> Float64[np.ndarray, " head"]:
    """Σ (z′ − z) · ∂m/∂z of each head: with z′ = 0 its gradient × input, the sign turned."""
    gradients = slopes(prepared)

    def estimate(change: RowChange) -> float:
        if change.stage != "mixed":
            raise bad_argument(
                "exact=False estimates what a head's output does: give to='zero', 'mean' or"
                " 'resample'; 'even' changes its attention",
                name="exact",
                found="False",
                allowed="True",
            )
        total = 0.0
        for call, function in zip(change.calls, change.functions, strict=True):
            z = gradients.output[call.place][None, :, change.head]
            head = torch.tensor([change.head])
            pairs = Pairs(torch.zeros(1, dtype=torch.int64), head, z.shape[1], z.shape[1])
            moved = function(z, pairs) - z
            total += float((moved[0] * gradients.slope[call.place][:, change.head]).sum())
        return total

    return np.array([np.mean([estimate(draw) for draw in draws]) for draws in changes])


@dataclass(frozen=True, eq=False)
class Replacement:
    """The replacement of a head's output, nothing or vectors of a corpus, or of its attention."""

    to: ReplacementKind
    corpus: Corpus | None

    @property
    def name(self) -> str:
        """The corpus in words; empty without one."""
        return "" if self.corpus is None else self.corpus.name

    def changes(self, layout: Layout, head: Site) -> list[RowChange]:
        """The rows of one head: one, or one for each draw."""
        made: list[Change] = [Pattern(head, "even")]
        if self.to != "even":
            seeds = range(DRAWS if self.to == "resample" else 1)
            made = [Ablate(head, self.to, seed, self.corpus) for seed in seeds]
        return [row for change in made for row in row_changes(change, layout)]


def replacement_of(
    lm: LoadedModel, to: str, corpus: CorpusTexts | None, progress: Callable[[float], None] = ignore
) -> Replacement:
    """The replacement that a caller chose for the heads; `BadInput` if it is not valid.

    `progress` is told what fraction of a corpus is recorded.
    """
    require_one_of("to", to, REPLACEMENTS)
    if to == "even":
        if corpus is not None:
            raise bad_argument(
                "corpus= goes with to='mean' and 'resample': uniform attention needs none",
                name="corpus",
                found="a corpus",
                allowed="None",
            )
        return Replacement("even", None)
    ablation = ablate(Site(0), to, corpus=corpus)  # refuses a corpus that goes with nothing
    if ablation.to == "zero":
        return Replacement(ablation.to, None)
    return Replacement(ablation.to, of_ablation(lm, ablation, progress))


def sites_of(layout: Layout, heads: Sequence[Where] | str | None) -> tuple[Site, ...]:
    """The heads that are meant, each once; all of a model without a choice."""
    if heads is None:
        return layout.heads
    if isinstance(heads, str):
        heads = [heads]
    sites: list[Site] = []
    for where in heads:
        head_site = site(where)
        for call in layout.find(head_site):
            every = range(call.n_heads) if head_site.head is None else (head_site.head,)
            sites += [call.site.with_head(head) for head in every]
    return tuple(dict.fromkeys(sites))


def one_site(layout: Layout, head: Where) -> Site:
    """The one head that is meant; `BadInput` for a layer."""
    sites = sites_of(layout, [head])
    if len(sites) != 1:
        raise bad_argument(
            f"{head} is {len(sites)} heads; give one, such as {sites[0]}",
            name="head",
            found=str(head),
            allowed=str(sites[0]),
        )
    return sites[0]


def notes_on(layout: Layout) -> tuple[str, ...]:
    """Notes for the reader on a model whose heads are not plain columns of W_O's input."""
    if all(call.projected for call in layout.calls):
        return ()
    return (
        "the model combines or changes what some heads say before W_O reads it: these heads are"
        " changed before the model combines them",
    )
