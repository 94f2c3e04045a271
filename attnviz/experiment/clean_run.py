"""One text, picture or sound made ready to be run many times: inputs, tokens, and one clean pass.

In: a model and what `attnviz.capture` takes. Out: a `CleanRun`, with the attention calls of the
clean pass, that say which heads there are, and the model's output without any change. One row only:
effects put many changed copies of it into one batch.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.capture.changed.layout import Layout, layout_of, remember
from attnviz.capture.changed.run import unchanged
from attnviz.capture.plan.plan import Plan, TokensByStack
from attnviz.capture.plan.planners import plan
from attnviz.capture.record.recorder import record
from attnviz.capture.request import Request, Text
from attnviz.capture.token_names import token_names
from attnviz.errors import BadInput, bad_argument
from attnviz.experiment.answer_measures import (
    LAST,
    AnswerMeasure,
    Divergence,
    NextToken,
    Target,
)
from attnviz.experiment.outputs.similarity import pooled
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import shortened
from attnviz.types import Site

Result = TypeVar("Result")
MAX_VECTORS = 32  # the same few sentences stand beside every text


@dataclass(frozen=True, eq=False)
class CleanRun:
    """Inputs of one row, on the model's device; `calls` and `clean` come from a recorded pass.

    `options` are keyword arguments of the pass that are no input. What `once` has computed is kept
    with the run, and shared with runs of the same pass that have another measure. `vectors` has
    those of other texts by their text (`vector_of`): who runs one model on many texts, and
    changes nothing in it, gives the runs the same. Without a measure, how far an output's answer
    has `moved` is measured where that was asked for.
    """

    lm: LoadedModel
    request: Request
    on: AnswerMeasure | None
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]
    tokens: TokensByStack
    calls: tuple[AttentionCall, ...]
    clean: Mapping[str, Any]
    vectors: dict[str, Tensor] = field(default_factory=dict, repr=False)
    moved: Callable[[Any], Tensor] | None = field(default=None, repr=False)
    _known: dict[tuple[object, object], Any] = field(default_factory=dict, repr=False)

    def once(self, compute: "Callable[[CleanRun], Result]", *, of_measure: bool = False) -> Result:
        """The result of a function of this run, computed by the first who asks for it.

        `of_measure` says that it depends on the measure too.
        """
        key = compute, (self.on or self.moved) if of_measure else None
        with self.lm.lock:
            if key not in self._known:
                self._known[key] = compute(self)
            result: Result = self._known[key]
        return result

    def keep(self, compute: "Callable[[CleanRun], Result]", result: Result) -> None:
        """Take what a function of this run, whatever the measure, would compute from another."""
        self._known[compute, None] = result

    def forget(self, compute: "Callable[[CleanRun], object]") -> None:
        """Let go of what a function of this run has computed; who asks again has it made anew."""
        self._known.pop((compute, None), None)

    @property
    def target(self) -> str | None:
        """The text that an encoder-decoder is to have written."""
        return next(iter(self.request.target), None)

    def with_measure(self, on: AnswerMeasure) -> "CleanRun":
        """The run with another measure: the same pass, unless it lacks what the measure reads."""
        other_target = isinstance(on, Target) and on.text not in (None, self.target)
        too_few = "logits_to_keep" in self.options and not reads_last_row(on)
        if not (other_target or too_few):
            return replace(self, on=on)
        request = self.request
        if isinstance(on, Target) and on.text is not None:
            request = replace(request, target=(on.text,))
        return prepare_request(self.lm, request, on)

    @cached_property
    def layout(self) -> Layout:
        """Where the heads are: the call that each site means."""
        return layout_of(self.calls)

    def call_of(self, head: Site) -> AttentionCall:
        """The recorded call of a head."""
        return self.calls[self.layout.calls.index(self.layout.find(head)[0])]

    @cached_property
    def attended(self) -> Bool[Tensor, "row token"]:
        """True for the real tokens of the input."""
        mask = self.inputs.get("attention_mask")
        if isinstance(mask, Tensor) and mask.dim() == 2:
            return mask.bool()
        hidden = self.clean.get("last_hidden_state")
        shape = hidden.shape[:2] if isinstance(hidden, Tensor) else (1, self.n_token)
        return torch.ones(shape, dtype=torch.bool, device=self.lm.key.device)

    def vector_of(self, text: str) -> Float[Tensor, "row d_model"]:
        """The mean of the last hidden states of another text, scaled to length 1; one row.

        Raises what `attnviz.capture` raises for a text that the model cannot read.
        """
        with self.lm.lock:
            vector = self.vectors.get(text)
            if vector is None:
                run = prepare_request(self.lm, Request.of(text))
                vector = pooled(run.clean["last_hidden_state"].float(), run.attended)
                self.vectors[text] = vector
                while len(self.vectors) > MAX_VECTORS:
                    del self.vectors[next(iter(self.vectors))]
        return vector

    def repeated(self, n: int) -> dict[str, Any]:
        """The inputs in n equal rows; what was one tensor under several names stays one."""
        known: dict[int, Any] = {}
        for value in self.inputs.values():
            one_row = isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] == 1
            known[id(value)] = value.expand(n, *value.shape[1:]) if one_row else value
        return {name: known[id(value)] for name, value in self.inputs.items()}

    @property
    def n_token(self) -> int:
        """The number of tokens that the answering stack read."""
        for name in ("decoder_input_ids", "input_ids"):
            if isinstance(self.inputs.get(name), Tensor):
                return int(self.inputs[name].shape[1])
        return self.calls[-1].n_query

    def position(self, at: int) -> int:
        """A position of the answering stack, LAST for its end; `BadInput` outside the text."""
        n = self.n_token
        if not (isinstance(at, int) and -n <= at < n):
            raise BadInput(
                f"position {at!r} does not exist: the text has {n} tokens; give 0 to {n - 1}, or"
                " -1 for the last",
                code="bad_position",
                asked=str(at),
                last=n - 1,
            )
        return LAST if at in (LAST, n - 1) else at % n

    def labels(self) -> Int64[Tensor, "row label"]:
        """The tokens that the answering stack is to write, one for each row of its logits."""
        if self.target is not None:
            encoded = self.lm.tokenize(text_target=[self.target], return_tensors="pt")
            ids: Tensor = encoded["input_ids"].to(self.lm.key.device)
            return ids[:, : self.n_token]
        if self.lm.kind != "encoder-decoder" and "input_ids" in self.inputs and self.n_token > 1:
            return torch.as_tensor(self.inputs["input_ids"])[:, 1:]
        raise BadInput(
            f"{self.lm.name} has no target here: give Target(text) for an encoder-decoder, or a"
            " text of two tokens or more for a decoder",
            code="no_target_text",
            name=self.lm.name,
        )


def prepare_request(
    lm: LoadedModel,
    request: Request,
    measure: AnswerMeasure | None = None,
    *,
    last_row: bool = False,
    watched: AbstractContextManager[object] | None = None,
) -> CleanRun:
    """Plan the inputs and run them once, recorded and without the changes of a block around it.

    A language model computes only its last row of logits where the measure needs no other, or with
    `last_row` whatever the measure. `watched` is entered for the pass alone. Raises what
    `attnviz.capture` raises, and `BadInput` for several texts.
    """
    planned = plan(lm, request)
    _require_one_row(planned)
    options = _options(lm, planned, last_row or reads_last_row(measure))
    with lm.lock, unchanged(), torch.no_grad(), record(lm.model) as calls, watched or nullcontext():
        output = lm.model(**planned.inputs, **options)
    remember(lm, layout_of(calls))
    return CleanRun(
        lm,
        request,
        measure,
        planned.inputs,
        options,
        token_names(lm, planned, calls, None).by_stack,
        tuple(calls),
        as_mapping(output),
    )


def of_capture(
    lm: LoadedModel, request: Request, cap: Capture, *, last_row: bool = False
) -> CleanRun | None:
    """The pass of a capture of this request as the clean run; None where it kept too little.

    Of its output a capture keeps the last hidden state and the scores, and of a long text only some
    of these and of what layers read. The model must be what it was, and its heads unchanged.
    """
    whole = all(
        call.row_step == 1
        and call.windows is None
        and call.inputs.only is None
        and not call.changes
        for call in cap.calls
    )
    kept = {"last_hidden_state": cap.hidden, "logits": cap.logits}
    clean = {name: tensor for name, tensor in kept.items() if tensor is not None}
    if request.kind != "text" or request.generation or cap.missing or not (whole and clean):
        return None
    planned = plan(lm, request)
    _require_one_row(planned)
    options = _options(lm, planned, last_row)
    if "logits_to_keep" in options and "logits" in clean:
        clean["logits"] = clean["logits"][:, -1:]
    elif any(rows.dim() == 3 and rows.shape[1] < len(cap.tokens) for rows in clean.values()):
        return None
    remember(lm, layout_of(cap.calls))
    return CleanRun(
        lm, request, None, planned.inputs, options, cap.tokens_by_stack, cap.calls, clean
    )


def _options(lm: LoadedModel, planned: Plan, last_row: bool) -> dict[str, Any]:
    """The arguments of the pass that are no inputs; `last_row` leaves out scores of all others."""
    options: dict[str, Any] = {**architecture.without_cache(lm.model, planned.inputs)}
    if last_row and takes(lm, "logits_to_keep"):
        options["logits_to_keep"] = 1
    return options


def as_mapping(output: object) -> Mapping[str, Any]:
    """A model's output by name; a bare module's under "output"."""
    return output if isinstance(output, Mapping) else {"output": output}


def reads_last_row(on: AnswerMeasure | None) -> bool:
    """True for a measure that needs no logits but those of the last token."""
    return isinstance(on, NextToken | Divergence) and on.at == LAST


def as_target(on: AnswerMeasure | None, target: Text | None) -> Text | None:
    """The text that a decoder is to have written; `BadInput` if the measure has another one."""
    if not isinstance(on, Target) or on.text is None:
        return target
    if target is not None and target != on.text:
        raise bad_argument(
            f"target= is {shortened(str(target))!r} and Target() has {shortened(on.text)!r}; give"
            " one of both",
            name="target",
            found=shortened(str(target)),
            allowed=shortened(on.text),
        )
    return on.text


def takes(lm: LoadedModel, argument: str) -> bool:
    """True if the model's forward pass has an argument of that name."""
    return argument in architecture.forward_arguments(lm.model)


def _require_one_row(planned: Plan) -> None:
    """Raise `BadInput` unless there is one text, picture or sound."""
    n_row = max((len(tokens) for tokens in planned.tokens.values()), default=1)
    if n_row != 1:
        raise BadInput(
            f"{n_row} texts were given: an experiment is made on one; call once for each",
            code="several_texts",
            found=n_row,
        )
