"""The Steps strip: every stage of one head as a panel, and one cell followed through all of them.

In: a frozen `StepsData` with the views that `attnviz.derive` makes; `fill` fills it. Query and key
are chosen in the browser; another layer or head is asked of the host, which computes it.
The formula of each stage stands here as the model computes it (Vaswani et al. 2017, section 3.2),
the same in every language; "W_Q" is set with a low index.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.attention.edits import Edit, EditableStage
from attnviz.pictures.shared.canvas import INLINE, LOCAL, Canvas, Prefix, derived
from attnviz.pictures.shared.heads import Axes, LayerPatches, TokenAxis
from attnviz.types import STAGES, AxisName, Stage, StepView

Face = Literal["numbers", "arrows", "masks"]  # of the first, the second and the fourth stop
# stages that most models do not have; without a view they get no panel
OPTIONAL: tuple[Stage, ...] = ("unrotated_q", "unrotated_k", "capped", "biased")


@dataclass(frozen=True)
class HeadPlace:
    """The place of a head, and the numbers of layers and heads.

    `kept` has the heads of each layer that were kept, where not all were.
    """

    layer: int
    head: int
    n_layers: int
    n_heads: int
    kept: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class StepTokens:
    """The tokens of both axes, and the picture that they are patches of, where they are."""

    queries: Annotated[TokenAxis, LOCAL]
    keys: Annotated[TokenAxis, LOCAL]
    cross: bool
    patches: LayerPatches | None = None
    picture: UInt8[np.ndarray, "row column rgb"] | None = None

    @derived
    def axes(self) -> Annotated[Axes, INLINE]:
        """The tokens along both axes."""
        return Axes.of(self.queries, self.keys, self.cross)


@dataclass(frozen=True)
class HeadForm:
    """The form of a model's attention, as its formulas are written.

    `turned` has those of q and k that a rotary embedding turned; `factors` what the model
    multiplied q, k or v by after their layer; `without_bias` the stages whose layer adds none.
    `given` is True where q, k and v were typed, `coarser` where keys were made from X, but coarser.
    """

    scaling: float
    sink: bool = False
    turned: frozenset[Stage] = frozenset()
    factors: Mapping[Stage, float] = field(default_factory=dict)
    without_bias: frozenset[Stage] = frozenset()
    given: bool = False
    coarser: bool = False


@dataclass(frozen=True, eq=False)
class BlockedCells:
    """The masks that block each cell: bit i of a cell stands for the i-th name and reason."""

    blocked: UInt8[np.ndarray, "query key"]
    mask_names: tuple[str, ...]
    mask_reasons: tuple[str, ...]


@dataclass(frozen=True)
class HandEdits:
    """The changes made by hand, and the changed stages as they were before."""

    allowed: bool = True
    edits: tuple[Edit, ...] = ()
    original: tuple[StepView, ...] = ()


@dataclass(frozen=True)
class AbsentPanel:
    """A stage that is not there, with the reason."""

    stage: Stage
    formula: str
    absent: str
    shape: None = None


@dataclass(frozen=True)
class ShownPanel:
    """A stage: its axes, the ends of its colours, how far it is from the model's own numbers."""

    stage: Stage
    formula: str
    shape: tuple[int, int]
    rows: AxisName
    cols: AxisName
    signed: bool
    range: tuple[float, float] | None
    rows_sum_to: float | None
    error: float | None
    ok: bool
    tolerance: float
    absent: None = None


@dataclass(frozen=True)
class SentEdit:
    """An edit for the browser; JSON has no ±∞, so what is closed or opened is so in words."""

    stage: EditableStage
    row: int
    column: int | None
    value: float | Literal["closed", "opened"]


@dataclass(frozen=True, eq=False)
class StepsData:
    """Every stage of one head; `absent` says why a stage has no view.

    `reach` is how long a vector a weight of 1 on each key would write, ‖v·W_O‖. `by_kernel` is True
    where the numbers are compared with those of torch's own kernel, not with a model's. `faces` are
    those that the host can open in the picture's place, `face` the open one.
    """

    place: Annotated[HeadPlace, INLINE]
    tokens: Annotated[StepTokens, INLINE]
    form: Annotated[HeadForm, LOCAL]
    views: Annotated[tuple[StepView, ...], LOCAL]
    absent: Annotated[Mapping[Stage, str], LOCAL]
    blocked: Annotated[BlockedCells, INLINE]
    reach: Float32[np.ndarray, "key"] | None = None
    by_hand: Annotated[HandEdits, LOCAL] = HandEdits()
    by_kernel: bool = False
    faces: tuple[Face, ...] = ()
    face: Face | None = None

    @derived
    def d_head(self) -> int:
        """The width of a query."""
        d_head: int = self._view("q").values.shape[1]
        return d_head

    @derived
    def d_model(self) -> int | None:
        """The width of the model, where a stage has it."""
        wide = [view for view in self.views if view.stage in ("x", "projected")]
        return wide[0].values.shape[1] if wide else None

    @derived
    def scaling(self) -> float:
        """The factor of the scores."""
        return self.form.scaling

    @derived
    def turned(self) -> frozenset[Stage]:
        """Those of q and k that a rotary embedding turned."""
        return self.form.turned

    @derived
    def given(self) -> bool:
        """True where q, k and v were typed; no layer made them."""
        return self.form.given

    @derived
    def factors(self) -> Mapping[Stage, str]:
        """The factors of q, k or v after their layer, in words."""
        factors = self.form.factors.items()
        return {stage: factor_text(stage, factor, self.d_head) for stage, factor in factors}

    @derived
    def head_slice(self) -> tuple[int, int]:
        """This head's columns of concat."""
        d_value = self._view("mixed").values.shape[1]
        return self.place.head * d_value, (self.place.head + 1) * d_value

    @derived
    def editable(self) -> bool:
        """True where numbers can be changed by hand."""
        return self.by_hand.allowed

    @derived
    def source(self) -> str:
        """The source of keys: "X", or another text's "E"."""
        return key_source(self)

    @derived
    def edits(self) -> tuple[SentEdit, ...]:
        """The changes made by hand."""
        return tuple(_sent_edit(edit) for edit in self.by_hand.edits)

    @derived
    def panels(self) -> tuple[AbsentPanel | ShownPanel, ...]:
        """The stages in their order; those that most models do not have only where they are."""
        views = {view.stage: view for view in self.views}
        usual = math.isclose(self.form.scaling * math.sqrt(self.d_head), 1, rel_tol=1e-5)
        written = formulas(self, usual)
        return tuple(
            _panel(views[stage], written[stage])
            if stage in views
            else AbsentPanel(stage, written[stage], self.absent[stage])
            for stage in STAGES
            if stage in views or stage not in OPTIONAL
        )

    @derived
    def stages(self) -> Mapping[Stage, Float32[np.ndarray, "row column"]]:
        """A matrix for each stage that is there."""
        return {view.stage: view.values for view in self.views}

    @derived
    def was(self) -> Annotated[Mapping[Stage, Float32[np.ndarray, "row column"]], Prefix("was_")]:
        """The changed stages as they were before."""
        return {view.stage: view.values for view in self.by_hand.original}

    def _view(self, stage: Stage) -> StepView:
        return next(view for view in self.views if view.stage == stage)


CANVAS = Canvas("steps", (StepsData,))


def _sent_edit(edit: Edit) -> SentEdit:
    infinite: Literal["opened", "closed"] = "opened" if edit.value > 0 else "closed"
    value = edit.value if math.isfinite(edit.value) else infinite
    return SentEdit(edit.stage, edit.row, edit.column, value)


def _panel(view: StepView, formula: str) -> ShownPanel:
    return ShownPanel(
        stage=view.stage,
        formula=formula,
        shape=view.values.shape,
        rows=view.rows,
        cols=view.cols,
        signed=view.signed,
        range=view.range,
        rows_sum_to=view.rows_sum_to,
        error=view.error if view.error is None or math.isfinite(view.error) else None,
        ok=view.ok,
        tolerance=view.tolerance,
    )


FORMULAS: dict[Stage, str] = {
    "x": "X",
    "unrotated_q": "Q′ = X·W_Q{b_q}",
    "unrotated_k": "K′ = {source}·W_K{b_k}",
    "q": "Q = X·W_Q{b_q}",
    "k": "K = {source}·W_K{b_k}",
    "v": "V = {source}·W_V{b_v}",
    "scores": "S = Q·Kᵀ",
    "scaled": "{scaled}",
    "capped": "C = c·tanh(({scaled}) ÷ c)",
    "biased": "{unbiased} + B",
    "masked": "{unmasked} + M",
    "weights": "A = softmax({unmasked} + M{sink})",
    "mixed": "Z = A·V",
    "concat": "{heads}",
    "projected": "{heads}·W_O{b_projected}",
}
BIASES: dict[Stage, str] = {"q": " + b_Q", "k": " + b_K", "v": " + b_V", "projected": " + b_O"}
PROJECTED: tuple[Stage, ...] = ("q", "k", "v")
SAME = 1e-4  # how close to 1 ÷ √d_k a factor is that is called so; half precision tells no more


def formulas(data: "StepsData", usual: bool) -> dict[Stage, str]:
    """The formula of each stage as this model computes it: other scalings, a softcap, a bias."""
    stages = {view.stage for view in data.views}
    scaled = "S ÷ √d_k" if usual else f"S × {data.form.scaling:.4g}"
    unbiased = "C" if "capped" in stages else scaled
    parts = {
        "source": key_source(data),
        "heads": f"[Z_0 … Z_{data.place.n_heads - 1}]" if data.place.n_heads > 1 else "[Z_0]",
        "scaled": scaled,
        "unbiased": unbiased,
        "unmasked": f"{unbiased} + B" if "biased" in stages else unbiased,
        "sink": " | s" if data.form.sink else "",
        **{
            f"b_{stage}": "" if stage in data.form.without_bias else bias
            for stage, bias in BIASES.items()
        },
    }
    formulas = {stage: formula.format_map(parts) for stage, formula in FORMULAS.items()}
    for view in data.views:
        name, source = view.stage.upper(), "X" if view.stage == "q" else parts["source"]
        by_hand = any(edit.stage == view.stage for edit in data.by_hand.edits)
        if view.stage in data.form.turned:
            before = (
                f"{name}′_t" if f"unrotated_{view.stage}" in stages else f"({source}·W_{name})_t"
            )
            formulas[view.stage] = f"{name}_t = R_t·{before}"
        elif view.stage in PROJECTED and data.form.given:
            formulas[view.stage] = name
        elif view.stage in PROJECTED and view.error is None and not by_hand:
            formulas[view.stage] = f"{name} = f({source}·W_{name})"  # more than a linear layer
        elif view.stage in data.form.factors:
            bias = parts[f"b_{view.stage}"]
            product = f"({source}·W_{name}{bias})" if bias else f"{source}·W_{name}"
            formulas[view.stage] = f"{name} = s_{name}·{product}"
    return formulas


def key_source(data: "StepsData") -> str:
    """The source of keys and values: X, X made coarser, or the encoder's output."""
    if data.form.coarser:
        return "X̄"
    return "E" if data.tokens.cross else "X"


def factor_text(stage: Stage, factor: float, d_head: int) -> str:
    """A factor in words: its number, and 1 ÷ √d_k where it is that."""
    usual = stage != "v" and math.isclose(factor * math.sqrt(d_head), 1, rel_tol=SAME)
    text = f"s_{stage.upper()}~=~{_number(factor)}{' =~1~÷~√d_k' if usual else ''}"
    return text.replace("~", "\N{NO-BREAK SPACE}")


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
