"""Attacks on a captured pass, generated from choices: each number is right, or its fault told.

In: a seed. Out: an `Attack`: a family of models, what is altered before or after the first pass,
what is around the pass and the question, what happens between them; and, when it was carried out,
its `Outcome`. A number that is wrong while `verify` is ok is a fault, and so are errors that are
not ours, a model that is left changed, and doubts where nothing was altered.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

import attnviz
from attnviz.attention.capture import Capture
from attnviz.errors import AttnVizError
from tests.support.pass_alterations import (
    ALTERATIONS,
    AROUND,
    AROUND_A_PASS,
    BETWEEN,
    FAMILIES,
    HARMLESS,
    TAKE_SQUARE_MASKS,
    Subject,
    overwrites_tensors,
)
from tests.support.pass_truth import Truth, faults
from tests.support.tiny.noted import was_noted

MASKS = ("none", "none", "padding", "square")


@dataclass(frozen=True)
class Attack:
    """One attack; the seed draws weights, tokens, and the layers that are altered."""

    seed: int
    family: str
    alteration: str = "nothing"
    also: str = "nothing"
    is_altered_first: bool = True
    around_pass: str = "nothing"
    between: str = "nothing"
    around_question: str = "nothing"
    mask: str = "none"
    n_batch: int = 1
    n_token: int = 5
    is_numpy: bool = False

    @property
    def must_be_exact(self) -> bool:
        """True if no layer is altered and none of its weights and tensors overwritten."""
        is_harmless = BETWEEN[self.between] in HARMLESS and self.around_pass != "other parameters"
        return is_harmless and self.alteration == self.also == "nothing"


def attack(seed: int) -> Attack:
    """The attack of a seed."""
    draw = random.Random(seed)

    def maybe(choices: dict[str, Any], share: float) -> str:
        return draw.choice(list(choices)) if draw.random() < share else "nothing"

    family, n_batch = draw.choice(list(FAMILIES)), draw.choice([1, 1, 2])
    mask = "padding" if n_batch > 1 else draw.choice(MASKS)
    return Attack(
        seed,
        family,
        alteration=maybe(ALTERATIONS, 0.75),
        also=maybe(ALTERATIONS, 0.15),
        is_altered_first=draw.random() < 0.5,
        around_pass=maybe(AROUND_A_PASS, 0.3),
        between=draw.choice(list(BETWEEN)),
        around_question=maybe(AROUND, 0.4),
        mask="padding" if mask == "square" and family not in TAKE_SQUARE_MASKS else mask,
        n_batch=n_batch,
        n_token=draw.choice([4, 5, 7]),
        is_numpy=draw.random() < 0.3,
    )


@dataclass(frozen=True)
class Outcome:
    """What came of an attack.

    "exact"; "told": `verify` is not ok; "refused" by an error of ours, with its code; "impossible"
    to carry out; or a fault: "wrong", "crashed", "left changed", "alarm" for nothing.
    """

    status: str
    details: tuple[str, ...] = ()
    was_noted: bool = False

    @property
    def is_fault(self) -> bool:
        return self.status not in ("exact", "told", "refused", "impossible")


class NotPossibleError(Exception):
    """The attack failed, before anything of ours was asked."""


@contextmanager
def attacking() -> Iterator[None]:
    """Errors inside are the attack's own, unless they are ours."""
    try:
        yield
    except AttnVizError:
        raise
    except Exception as error:
        raise NotPossibleError(str(error)) from error


def tokens_of(made: Attack) -> dict[str, Any]:
    """The inputs of an attack, made anew."""
    draw = torch.Generator().manual_seed(made.seed)
    size = made.n_batch, made.n_token
    given = {"input_ids": torch.randint(2, 50, size, generator=draw)}
    if made.mask == "padding":
        given["attention_mask"] = torch.ones(size, dtype=torch.long)
        given["attention_mask"][-1, : 2 * (made.n_batch > 1)] = 0
    if made.mask == "square":
        square = made.n_batch, 1, made.n_token, made.n_token
        given["attention_mask"] = torch.ones(square, dtype=torch.bool).tril()
    if made.family == "bart":
        given["decoder_input_ids"] = given["input_ids"].clone()
    return {name: value.numpy() if made.is_numpy else value for name, value in given.items()}


def carried_out(made: Attack) -> Outcome:
    """The outcome of one attack."""
    torch.manual_seed(made.seed)
    with ExitStack() as undo:
        try:
            return _carried_out(made, undo)
        except NotPossibleError as error:
            return Outcome("impossible", (str(error),))
        except AttnVizError as error:
            status = "alarm" if made.must_be_exact else "refused"
            return Outcome(status, (error.code or "", str(error)))
        except Exception as error:
            return Outcome("crashed", (f"{type(error).__name__}: {error}",))


def _carried_out(made: Attack, undo: ExitStack) -> Outcome:
    model, draw = FAMILIES[made.family]().eval(), random.Random(made.seed)
    subject = Subject(model, attnviz.load(model), draw, Truth(), undo)
    del model  # one attack lets it go
    subject.truth.keeps_tensors = BETWEEN[made.between] is overwrites_tensors
    cap, is_unchanged = _captured(made, subject)
    if not is_unchanged:
        return Outcome("left changed")
    noted, tokens = was_noted(cap), tokens_of(made)["input_ids"][0]
    with attacking():
        BETWEEN[made.between](subject, cap)
    with AROUND[made.around_question](subject):
        is_ok = cap.verify().ok
        found = tuple(faults(cap, subject.truth, tokens))
    if found and is_ok:
        return Outcome("wrong", found, noted)
    status = "exact" if is_ok else "alarm" if made.must_be_exact else "told"
    return Outcome(status, found, noted)


def _captured(made: Attack, subject: Subject) -> tuple[Capture, bool]:
    """The second capture of a model; True if it left the model as it was."""

    def alter() -> None:
        with attacking():
            for alteration in (made.alteration, made.also):
                ALTERATIONS[alteration](subject)

    if made.is_altered_first:
        alter()
    attnviz.capture(subject.lm, inputs=tokens_of(made))
    if not made.is_altered_first:
        alter()
    subject.inputs, before = tokens_of(made), _state(subject.model)
    with AROUND_A_PASS[made.around_pass](subject), subject.truth.watching():
        cap = attnviz.capture(subject.lm, inputs=subject.inputs)
    return cap, _state(subject.model) == before


def _state(model: Any) -> list[object]:
    """What a capture might leave behind in a model."""
    modules = [
        (type(module), vars(module).keys() | {}, vars(module).get("forward"))
        for module in model.modules()
    ]
    hooks = [(*module._forward_hooks, *module._forward_pre_hooks) for module in model.modules()]
    attend = functional.scaled_dot_product_attention
    return [modules, hooks, model.config._attn_implementation, attend, functional.linear]
