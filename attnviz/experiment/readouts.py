"""A measure, resolved for one model and one text: functions of the model's output.

In: a measure, a model, its prepared inputs and its clean output. Out: a `Readout`: `read` gives one
number for each row of a batch, and `linear` the number that direct attribution splits and first
order ranks by, a linear function of the logits or of the last hidden state. A measure whose slope
is zero where nothing was changed (a divergence, a cosine with itself) has no such number.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor

from attnviz.errors import BadInput, bad_argument
from attnviz.experiment.answer_measures import (
    CENTRED,
    LAST,
    Class,
    Cosine,
    Divergence,
    NextToken,
    OwnMeasure,
    Target,
    as_measure,
)
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.outputs.classes import class_names
from attnviz.experiment.outputs.similarity import MIN_NORM, pooled
from attnviz.models.loaded_model import LoadedModel

# one number for each row of the batch, or one for each row and choice
Read = Callable[[Any], Tensor]
Linear = Callable[[Tensor], Float[Tensor, " row"]]
AnswersWith = Literal["logits", "last_hidden_state"]


@dataclass(frozen=True, eq=False)
class Readout:
    """One number of the answer, in `unit`.

    `linear` takes the tensor that `output` names. `estimated` says in words what number it is,
    where it is not the measure itself.
    """

    read: Read
    unit: str
    linear: Linear | None = None
    output: AnswersWith = "logits"
    estimated: str = "the measure"


def readout(prepared: CleanRun) -> Readout:
    """The functions of a measure for its inputs; `BadInput` where the model has no such answer."""
    return prepared.once(_resolved, of_measure=True)


def _resolved(prepared: CleanRun) -> Readout:
    on = prepared.on or prepared.moved
    if on is None:
        raise bad_argument(
            "on= is missing: give NextToken, Class, Cosine, Target, Divergence, or a function of"
            " the model's output that gives a number for each row",
            name="on",
            found="None",
            allowed="NextToken, Class, Cosine, Target, Divergence",
        )
    if isinstance(on, NextToken):
        return _next_token(prepared, on)
    if isinstance(on, Class):
        return _class(prepared, on)
    if isinstance(on, Cosine):
        return _cosine(prepared, on)
    if isinstance(on, Target):
        return _target(prepared)
    if isinstance(on, Divergence):
        return _divergence(prepared, on)
    own = as_measure(on)
    assert not isinstance(own, NextToken | Class | Cosine | Target | Divergence), "each has its own"
    answers: AnswersWith = "logits" if "logits" in prepared.clean else "last_hidden_state"
    return Readout(lambda output: _own_numbers(own, output), "own measure", output=answers)


# --- next token and classes ---------------------------------------------------------------------


def _next_token(prepared: CleanRun, on: NextToken) -> Readout:
    at, n_token = prepared.position(on.at), _require_logits(prepared, 3).shape[-1]
    token = token_id(prepared.lm, on.token, n_token)
    other = None if on.against is None else token_id(prepared.lm, on.against, n_token)

    def linear(logits: Tensor) -> Tensor:
        return _contrast(logits[:, at].float(), token, other)

    def log_probability(output: Any) -> Tensor:
        return logits_of(output)[:, at].float().log_softmax(-1)[:, token]

    if on.log_probability:
        return Readout(log_probability, "log-probability", linear, estimated=CENTRED)
    return Readout(lambda output: linear(logits_of(output)), "logit", linear)


def _class(prepared: CleanRun, on: Class) -> Readout:
    lm = prepared.lm
    _require_logits(prepared, 2)  # any config has names of classes
    names = class_names(lm)
    token = class_index(lm, names, on.name)
    other = None if on.against is None else class_index(lm, names, on.against)

    def linear(logits: Tensor) -> Tensor:
        return _contrast(logits.float(), token, other)

    return Readout(lambda output: linear(logits_of(output)), "logit", linear)


def _contrast(logits: Float[Tensor, "row choice"], choice: int, other: int | None) -> Tensor:
    """One logit minus another, or minus the mean of all."""
    return logits[:, choice] - (logits.mean(-1) if other is None else logits[:, other])


def token_id(lm: LoadedModel, token: str | int, n_token: int) -> int:
    """The number of a token given by its text; `BadInput` where the text is several tokens.

    Warns of a text that is another token with a space before it, as most words of a sentence are.
    """
    if isinstance(token, int) and not isinstance(token, bool):
        if 0 <= token < n_token:
            return token
        raise _bad_token(lm, str(token), f"the vocabulary has {n_token} entries")
    if not isinstance(token, str) or not token:
        raise _bad_token(lm, str(token), "give the text of a token, or its number")
    tokenizer = lm.text_tokenizer()
    ids: list[int] = lm.tokenize(token, add_special_tokens=False)["input_ids"]
    spaced: list[int] = lm.tokenize(f" {token}", add_special_tokens=False)["input_ids"]
    if len(ids) == 1:
        if token[0].isalpha() and len(spaced) == 1 and spaced != ids:
            warnings.warn(
                f"{token!r} is a token without a space before it; within a sentence {lm.name} has"
                f" another one for the word, {' ' + token!r}",
                stacklevel=2,
            )
        return ids[0]
    number = tokenizer.get_vocab().get(token)
    if number is not None:
        return int(number)
    pieces = ", ".join(map(repr, lm.labels_of(ids)))
    advice = "give one of them"
    if len(spaced) == 1:
        advice = f"with the space before it, {' ' + token!r}, it is one; give that, or one of them"
    raise _bad_token(lm, token, f"it is {len(ids)} tokens: {pieces}; {advice}")


def _bad_token(lm: LoadedModel, token: str, reason: str) -> BadInput:
    return BadInput(
        f"{token!r} is not one token of {lm.name}: {reason}",
        code="bad_token",
        asked=token[:40],
        name=lm.name,
        reason=reason,
    )


def class_index(lm: LoadedModel, names: tuple[str, ...], name: str | int) -> int:
    """The number of a class; `BadInput` lists the classes."""
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(names):
        return name
    folded = [label.casefold() for label in names]
    if isinstance(name, str) and folded.count(name.casefold()) == 1:
        return folded.index(name.casefold())
    known = ", ".join(names) or "none"
    raise BadInput(
        f"{lm.name} has no class {name!r}; its classes are: {known}",
        code="bad_class",
        name=lm.name,
        asked=str(name)[:40],
        allowed=known,
    )


# --- sentences, targets, distance ---------------------------------------------------------------


def _cosine(prepared: CleanRun, on: Cosine) -> Readout:
    if not isinstance(prepared.clean.get("last_hidden_state"), Tensor):
        raise _no_answer(prepared, "logits" if "logits" in prepared.clean else "another output")
    attended = prepared.attended
    if on.to is None:
        other = pooled(prepared.clean["last_hidden_state"].float(), attended)
    else:
        other = prepared.vector_of(on.to)

    def read(output: Any) -> Tensor:
        hidden: Tensor = output["last_hidden_state"].float()
        return pooled(hidden, attended.expand(len(hidden), -1)) @ other[0]

    mean = _mean(prepared.clean["last_hidden_state"].float(), attended)
    length = mean.norm().clamp(min=MIN_NORM)

    def linear(hidden: Tensor) -> Tensor:
        cosine: Tensor = _mean(hidden.float(), attended) @ other[0] / length
        return cosine

    return Readout(read, "cosine", None if on.to is None else linear, output="last_hidden_state")


def _mean(hidden: Tensor, attended: Tensor) -> Tensor:
    """The mean over attended tokens, [row, d_model]."""
    keep = attended.to(hidden.dtype)[..., None]
    return (hidden * keep).sum(1) / keep.sum(1)


def _target(prepared: CleanRun) -> Readout:
    """Σ log p of the labels; its linear companion is Σ of their logits minus the mean logit."""
    _require_logits(prepared, 3)
    labels = prepared.labels()

    def rows(logits: Tensor) -> Tensor:
        return logits[:, : labels.shape[1]].float()

    def picked(scores: Tensor) -> Tensor:
        index = labels.expand(scores.shape[0], -1)[..., None]
        return scores.gather(-1, index)[..., 0].sum(-1)

    def read(output: Any) -> Tensor:
        return picked(rows(logits_of(output)).log_softmax(-1))

    def linear(logits: Tensor) -> Tensor:
        scores = rows(logits)
        return picked(scores - scores.mean(-1, keepdim=True))

    return Readout(read, "log-likelihood", linear, estimated=f"the sum over tokens of {CENTRED}")


def _divergence(prepared: CleanRun, on: Divergence) -> Readout:
    logits = _require_logits(prepared)
    at = prepared.position(on.at) if logits.dim() == 3 else LAST

    def row(scores: Tensor) -> Tensor:
        return (scores[:, at] if scores.dim() == 3 else scores).float().log_softmax(-1)

    clean = row(logits)

    def read(output: Any) -> Tensor:
        return (clean.exp() * (clean - row(logits_of(output)))).sum(-1)

    return Readout(read, "nats")


def _own_numbers(own: OwnMeasure, output: Any) -> Float[Tensor, " row"]:
    """The numbers that a caller's function reads; `BadInput` unless there is one for each row."""
    numbers = own(output)
    if not isinstance(numbers, Tensor) or numbers.dim() != 1:
        shape = [*getattr(numbers, "shape", ())]
        found = f"{type(numbers).__name__} {shape}"
        raise BadInput(
            f"the function given as on= returned {found}: it has to give one number for each row of"
            " the batch, a tensor [n], such as output['logits'][:, -1, 5]",
            code="bad_measure",
            found=found,
            wanted="[n]",
        )
    return numbers.float()


# --- what the model has ---------------------------------------------------------------------------


def logits_of(output: Any) -> Tensor:
    """The logits among a model's outputs."""
    logits = output["logits"]
    assert isinstance(logits, Tensor)
    return logits


def _require_logits(prepared: CleanRun, dim: int | None = None) -> Tensor:
    """The clean logits; `BadInput` where the model has none of that shape."""
    logits = prepared.clean.get("logits")
    if isinstance(logits, Tensor) and dim in (None, logits.dim()):
        return logits
    has = "last hidden states" if not isinstance(logits, Tensor) else f"logits {[*logits.shape]}"
    raise _no_answer(prepared, has)


def _no_answer(prepared: CleanRun, has: str) -> BadInput:
    return BadInput(
        f"{prepared.lm.name} answers with {has}, which this measure cannot read: NextToken and"
        " Target read a language model, Class a classifier, Cosine hidden states",
        code="wrong_measure",
        name=prepared.lm.name,
        found=has,
    )
