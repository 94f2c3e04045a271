"""One model type, checked: is every attention that the reference saw recorded, and the same?

`check` builds the type, runs it once under eager attention and once under a recorder, and gives a
`Verdict` as plain data. Statuses: "exact", "refused" (a named error), "wrong" (recorded, but
different), "silent" (not recorded, nothing raised), "crashed" (another exception while recording),
"no attention", "not built".
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from attnviz.errors import AttnVizError
from tests.support.tiny.configs import Style, tiny_config
from tests.support.tiny.inputs import Inputs, candidates
from tests.support.tiny.models import NotBuilt, build, set_seed
from tests.support.tiny.reference import Reference, Seen, main_outputs, reference

TOLERANCE = 1e-4
Recorder = Callable[[torch.nn.Module], AbstractContextManager[list[Any]]]


@dataclass
class Verdict:
    """What came of one type. `problems` says where and by how much; `notes` is for the reader."""

    model_type: str
    status: str = "not built"
    model: str = ""
    inputs: list[str] = field(default_factory=list)
    eager: int = 0
    public: int = 0
    softmax: int = 0
    recorded: int = 0
    max_difference: float = 0.0
    output_difference: float | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check(model_type: str, record: Recorder) -> Verdict:
    """Build the type, run both ways, compare."""
    verdict = Verdict(model_type)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model, inputs, expected = tiny_case(model_type)
        except NotBuilt as error:
            verdict.problems = [str(error)]
        else:
            verdict.model = type(model).__name__
            verdict.inputs = [_described(name, value) for name, value in inputs.items()]
            _judge(verdict, model, inputs, expected, record)
    verdict.seconds = round(time.perf_counter() - start, 1)
    return verdict


def tiny_case(
    model_type: str, overrides: dict[str, Any] | None = None
) -> tuple[PreTrainedModel, Inputs, Reference]:
    """A tiny model, inputs that it runs on, and what its eager twin attends to."""
    reasons: list[str] = []
    styles: tuple[Style, ...] = ("tiny", "shallow")
    for style in styles:
        try:
            model, eager = build(model_type, tiny_config(model_type, style, overrides))
        except Exception as error:  # anything a config or a constructor may say
            reasons.append(f"{style}: {_first_line(error)}")
            continue
        for inputs in candidates(model_type, eager):
            try:
                with torch.no_grad():
                    set_seed()
                    eager(**inputs)
                return model, inputs, reference(eager, inputs)
            except Exception as error:  # these inputs are not what the model wants
                reasons.append(f"{style} ({', '.join(inputs)}): {_first_line(error)}")
    raise NotBuilt(" | ".join(dict.fromkeys(reasons[:4] + reasons[-2:])) or "no inputs known")


def _described(name: str, value: Any) -> str:
    return f"{name}{list(value.shape)}" if isinstance(value, Tensor) else name


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


def _judge(
    verdict: Verdict, model: PreTrainedModel, inputs: Inputs, expected: Reference, record: Recorder
) -> None:
    verdict.eager, verdict.public = len(expected.calls), len(expected.public)
    verdict.softmax = len(expected.softmax)
    verdict.notes += [f"public in another layout: {one}" for one in expected.odd[:3]]
    used = sorted({name for call in expected.calls for name in call.kwargs})
    verdict.notes += [f"keywords: {', '.join(used)}"] if used else []
    try:
        with torch.no_grad(), record(model) as calls:
            set_seed()
            output = model(**inputs)
    except AttnVizError as error:
        verdict.status = "refused" if expected.has_attention else "no attention"
        verdict.problems = [_first_line(error)]
        return
    except Exception as error:  # a crash of the recorder is a result, not an end
        verdict.status, verdict.problems = "crashed", [_first_line(error)]
        return
    if not expected.has_attention and not calls:
        verdict.status = "no attention"
        verdict.problems = ["nothing recorded, nothing raised"]
        return
    verdict.recorded = len(calls)
    verdict.output_difference = outputs_differ(main_outputs(output), expected.outputs)
    Comparison(verdict, calls).run(expected)


def outputs_differ(ours: list[Tensor], theirs: list[Tensor]) -> float | None:
    """max |recorded run − eager run| over the model's outputs; None where shapes say nothing."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a.shape == b.shape]
    return max((float((a - b).abs().max()) for a, b in pairs if a.numel()), default=None)


class Comparison:
    """Matches recorded calls with what the reference saw."""

    def __init__(self, verdict: Verdict, calls: list[Any]) -> None:
        self.verdict = verdict
        self.calls = calls
        self.weights: dict[int, Tensor] = {}
        self.missing: list[str] = []
        self.wrong: list[str] = []

    def run(self, expected: Reference) -> None:
        """Fill in the verdict."""
        for seen in expected.calls:
            self.named(seen)
        for seen in expected.public:
            self.anywhere(seen)
        only_softmax = not expected.calls and not expected.public
        noted = len(self.missing), len(self.wrong)
        for seen in expected.softmax:
            self.anywhere(seen)
        if not only_softmax:  # own code beside recorded parts: reported, judged by the rest
            extra = self.missing[noted[0] :] + self.wrong[noted[1] :]
            self.verdict.notes += [f"own code: {one}" for one in extra[:4]]
            del self.missing[noted[0] :], self.wrong[noted[1] :]
        self.verdict.problems = self.wrong[:4] + self.missing[:4]
        self.verdict.status = "wrong" if self.wrong else "silent" if self.missing else "exact"

    def of(self, number: int) -> Tensor:
        """The recorded weights of one call, [batch, head, query, key]."""
        if number not in self.weights:
            call = self.calls[number]
            rows = [call.weights(batch=batch) for batch in range(call.n_batch)]
            self.weights[number] = torch.stack(rows)
        return self.weights[number]

    def named(self, seen: Seen) -> None:
        """The call of the same module and index must be there and equal."""
        where = f"{seen.module}#{seen.index}"
        for number, call in enumerate(self.calls):
            if (call.module, call.index) == (seen.module, seen.index):
                self.hold(where, difference(self.of(number), seen))
                return
        found = [number for number, _ in self.equal(seen)]
        if found:
            other = self.calls[found[0]]
            self.verdict.notes.append(f"{where} recorded as {other.module}#{other.index}")
        else:
            self.missing.append(f"{where} not recorded")

    def anywhere(self, seen: Seen) -> None:
        """Some recorded call must be equal; one of the same shape that differs counts as wrong."""
        where = f"{seen.module}#{seen.index}"
        matches = list(self.equal(seen))
        if matches:
            number, found = matches[0]
            self.verdict.max_difference = max(self.verdict.max_difference, found)
            self.label(seen.module, self.calls[number])
            return
        near = [
            found
            for number in range(len(self.calls))
            if (found := difference(self.of(number), seen)) is not None
        ]
        shape = list(seen.weights.shape)
        if near:
            self.wrong.append(f"{where} {shape}: nearest recorded call is {min(near):.2g} away")
        else:
            self.missing.append(f"{where} {shape} not recorded")

    def equal(self, seen: Seen) -> Iterator[tuple[int, float]]:
        for number in range(len(self.calls)):
            found = difference(self.of(number), seen)
            if found is not None and found <= TOLERANCE:
                yield number, found

    def hold(self, where: str, found: float | None) -> None:
        if found is None:
            self.wrong.append(f"{where}: recorded in another shape")
            return
        self.verdict.max_difference = max(self.verdict.max_difference, found)
        if not found <= TOLERANCE:
            self.wrong.append(f"{where}: max difference {found:.3g}")

    def label(self, path: str, call: Any) -> None:
        """Note a recorded stack or kind that the public name contradicts."""
        if not hasattr(call, "kind"):
            return
        key = path.split(".")[-1]
        if "cross_attentions" in key and call.kind != "cross":
            self.verdict.notes.append(f"{path} is {call.module}, kind {call.kind!r}")
        if key.startswith(("encoder_att", "decoder_att")):
            stack, kind = getattr(call, "stack", None), call.kind
            if (stack, kind) != (key[:7], "self"):
                self.verdict.notes.append(f"{path} is {call.module}: {kind!r} in {stack!r}")


def difference(ours: Tensor, seen: Seen) -> float | None:
    """max |ours − theirs| over the rows that count; None where the shapes differ."""
    theirs = seen.weights
    if ours.shape != theirs.shape:
        if ours.shape[1:] != theirs.shape[1:] or ours.shape[0] != 1:
            return None
        ours = ours.expand_as(theirs)
    rows = (ours - theirs.float()).abs().amax(dim=(1, 3))
    usable = seen.rows & ~theirs.isnan().any(-1).any(1)
    if not bool(usable.any()):
        return float("nan") if bool(theirs.isnan().any()) else 0.0
    return float(rows[usable].max())
