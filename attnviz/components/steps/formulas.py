"""The formula of each stage as a model computes it (Vaswani et al. 2017, section 3.2).

In: a `StepsData`. Out: texts that are the same in every language; "W_Q" is set with a low index.
"""

import math
from typing import TYPE_CHECKING

from attnviz.types import Stage

if TYPE_CHECKING:
    from attnviz.components.steps import StepsData

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
