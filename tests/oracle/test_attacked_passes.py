"""`capture`, its calls and `verify` under generated attacks, beside what PyTorch was given."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

import attnviz
from tests.support.pass_alterations import ALTERATIONS, AROUND, AROUND_A_PASS, BETWEEN, FAMILIES
from tests.support.pass_attacks import Attack, attack, carried_out
from tests.support.pass_truth import SeenAttention, SeenLayer, Truth, faults
from tests.support.tiny.noted import ids, llama

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' and PyTorch's own

N_SLOW, N_PART = 1_000, 250
LEAST_EXACT, MOST_IMPOSSIBLE = 0.55, 0.05

SQUARE = {"mask": "square", "n_token": 7}
FORMERLY_WRONG = {
    "weights of a pruned layer, asked in bfloat16": Attack(
        32, "bert", "prunes", between="runs again", around_question="bfloat16"
    ),
    "weights of a noted pass in autocast, asked in bfloat16": Attack(
        207, "gpt2", "runs in autocast", between="hooks all layers", around_question="bfloat16"
    ),
    "weights of a normed layer whose data were exchanged, asked in bfloat16": Attack(
        217, "distilbert", "norms a weight", is_altered_first=False, between="exchanges data",
        around_question="bfloat16",
    ),
    "weights of a subclass, asked in bfloat16": Attack(
        220, "opt", "scales in a subclass", between="multiplies hidden states",
        around_question="bfloat16",
    ),
    "weights of other parameters, asked in bfloat16": Attack(
        282, "llama", around_pass="other parameters", between="changes the config",
        around_question="bfloat16",
    ),
    "a mask that was zeroed, recorded beside a layer without its class": Attack(
        396, "llama", "multiplies without its class", is_altered_first=False,
        between="zeroes the inputs", around_question="float64", **SQUARE,
    ),
    "a mask that was zeroed, recorded in inference mode": Attack(
        630, "cohere", "wraps a layer", is_altered_first=False, around_pass="inference mode",
        between="zeroes the inputs", **SQUARE,
    ),
}  # fmt: skip


def each_once() -> list[Attack]:
    """Attacks in which everything occurs that is altered, done between, or around a question."""
    between, around = list(BETWEEN), list(AROUND)
    return [
        replace(
            attack(number),
            alteration=alteration,
            between=between[number % len(between)],
            around_question=around[number % len(around)],
        )
        for number, alteration in enumerate(ALTERATIONS)
    ]


def require_right(attacks: Iterable[Attack]) -> Counter[str]:
    """No attack made a fault; the counts of what came of them."""
    outcomes = {made: carried_out(made) for made in attacks}
    wrong = [(outcome, made) for made, outcome in outcomes.items() if outcome.is_fault]
    assert not wrong, (len(wrong), wrong[:5])
    assert {outcome.was_noted for outcome in outcomes.values()} == {True, False}
    counts = Counter(outcome.status for outcome in outcomes.values())
    assert counts["exact"] >= LEAST_EXACT * len(outcomes), counts
    assert counts["impossible"] <= MOST_IMPOSSIBLE * len(outcomes), counts
    assert counts["told"] and counts["refused"], "no attack did any harm"
    return counts


@pytest.mark.parametrize("name", FORMERLY_WRONG)
def test_what_was_wrong_while_verify_was_ok_is_exact(name: str) -> None:
    outcome = carried_out(FORMERLY_WRONG[name])
    assert outcome.status == "exact", outcome


def test_what_a_layer_wrote_is_compared_where_its_scaled_copy_is_used() -> None:
    """OPT scales what W_q wrote: that is kept too, and was overwritten after its use."""
    outcome = carried_out(attack(2022))
    assert outcome.status == "told", outcome
    assert outcome.details == ("decoder.layers.1.self_attn#0: what q wrote",)


def test_each_attack_leaves_right_numbers_or_is_told() -> None:
    attacks = each_once()
    assert {made.family for made in attacks} == FAMILIES.keys()
    assert {made.between for made in attacks} == BETWEEN.keys()
    require_right(attacks)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, N_SLOW, N_PART))
def test_generated_attacks_leave_right_numbers_or_are_told(start: int) -> None:
    attacks = [attack(seed) for seed in range(start, start + N_PART)]
    assert {made.around_pass for made in attacks} == AROUND_A_PASS.keys()
    require_right(attacks)


# --- the truth can tell -------------------------------------------------------------------------


def doubled(seen: Any, part: str) -> Any:
    return replace(seen, **{part: getattr(seen, part) * 2})


@pytest.mark.parametrize(
    ("kind", "part", "told"),
    [
        (SeenAttention, "query", "weights of text 0"),
        (SeenAttention, "key", "weights of one head"),
        (SeenAttention, "value", "value"),
        (SeenAttention, "output", "output"),
        (SeenLayer, "read", "q read"),
        (SeenLayer, "weight", "out weight"),
        (SeenLayer, "wrote", "k wrote"),
    ],
)
def test_a_part_that_is_not_the_truth_is_found(kind: type, part: str, told: str) -> None:
    truth, lm = Truth(), llama()
    with truth.watching():
        cap = attnviz.capture(lm, **ids())
    tokens = ids()["inputs"]["input_ids"][0]
    assert not list(faults(cap, truth, tokens))
    seen = truth.attentions if kind is SeenAttention else truth.layers
    seen[:] = [doubled(one, part) for one in seen]
    assert any(told in fault for fault in faults(cap, truth, tokens))
    assert any("tokens" in fault for fault in faults(cap, truth, tokens + 1))
