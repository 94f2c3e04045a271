"""One model type, checked: is every attention that the reference saw recorded, and the same?

`check` builds the type, runs it once under eager attention and once under a recorder, and gives a
`Verdict` as plain data. Statuses: "exact", "partly" (what is recorded is exact, and the recorder
names the modules that are not), "refused" (a named error), "wrong" (recorded, but different),
"upstream" (different from eager, and so is the model's own default attention, which the recorded
run follows), "silent" (not recorded, nothing raised), "crashed" (another exception while
recording), "unverified" (recorded, but the model shows nothing to compare with), "no
attention", "not built". Of each recorded call every step of its last head is held against the
model's own tensors as well; one that differs makes the type "not ok".
"""

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.steps import derive
from attnviz.errors import AttnVizError, UnsupportedAttention
from tests.support.tiny.compare import TOLERANCE, Comparison, outputs_differ
from tests.support.tiny.configs import Style, tiny_config
from tests.support.tiny.inputs import candidates
from tests.support.tiny.models import NotBuilt, build, set_seed
from tests.support.tiny.pictures import read_pictures
from tests.support.tiny.reference import Reference, main_outputs, reference
from tests.support.tiny.source import Inputs

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
    with_steps: int = 0
    verified: int = 0
    left_out: list[str] = field(default_factory=list)
    compared: int = 0
    max_difference: float = 0.0
    output_difference: float | None = None
    upstream_difference: float | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check(model_type: str, record: Recorder, pictures: bool = False) -> Verdict:
    """Build the type, run both ways, compare; `pictures` asks for text with a picture in it."""
    verdict = Verdict(model_type)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            case = picture_case if pictures else tiny_case
            model, inputs, expected = case(model_type)
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
                return model, inputs, reference(eager, inputs)
            except Exception as error:  # these inputs are not what the model wants
                reasons.append(f"{style} ({', '.join(inputs)}): {_first_line(error)}")
    raise NotBuilt(" | ".join(dict.fromkeys(reasons[:4] + reasons[-2:])) or "no inputs known")


def picture_case(model_type: str) -> tuple[PreTrainedModel, Inputs, Reference]:
    """The same with a picture or a sound among the text."""
    try:
        model, eager = build(model_type, tiny_config(model_type))
        inputs, expected = read_pictures(eager)
    except Exception as error:  # this type takes none, or none that is known here
        raise NotBuilt(_first_line(error)) from error
    return model, inputs, expected


def _described(name: str, value: Any) -> str:
    return f"{name}{list(value.shape)}" if isinstance(value, Tensor) else name


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


def _judge(
    verdict: Verdict, model: PreTrainedModel, inputs: Inputs, expected: Reference, record: Recorder
) -> None:
    verdict.eager, verdict.public = len(expected.calls), len(expected.public)
    verdict.softmax = len(expected.softmax)
    used = sorted({name for call in expected.calls for name in call.kwargs})
    verdict.notes += [f"keywords: {', '.join(used)}"] if used else []
    try:
        output, calls = _recorded(model, inputs, record)
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
    missing = getattr(calls, "missing", ())
    verdict.left_out = [f"{call.module}: {call.reason}" for call in missing]
    verdict.with_steps = sum(isinstance(call.inputs, AttentionInputs) for call in calls)
    ours, plain = main_outputs(output), _run(model, inputs)
    verdict.upstream_difference = outputs_differ(plain, expected.outputs)
    verdict.output_difference = outputs_differ(ours, expected.outputs)
    _compare(verdict, calls, expected)
    if verdict.status in ("exact", "partly"):
        _compare_steps(verdict, calls)
    if verdict.status == "wrong" and _runs_as_plain(verdict, ours, plain):
        verdict.status = "upstream"


def _recorded(model: PreTrainedModel, inputs: Inputs, record: Recorder) -> tuple[Any, list[Any]]:
    """The output and the calls; of a second run where the first exchanged modules (BigBird)."""
    try:
        with torch.no_grad(), record(model) as calls:
            set_seed()
            return model(**inputs), calls
    except UnsupportedAttention as error:
        if error.code != "modules_changed":
            raise
    with torch.no_grad(), record(model) as calls:
        set_seed()
        return model(**inputs), calls


def _compare(verdict: Verdict, calls: list[Any], expected: Reference) -> None:
    comparison = Comparison(calls)
    try:
        comparison.run(expected)
    except AttnVizError as error:
        verdict.status, verdict.problems = "refused", [_first_line(error)]
        return
    except Exception as error:  # deriving the weights failed: as bad as a failing recorder
        verdict.status, verdict.problems = "crashed", [_first_line(error)]
        return
    verdict.max_difference = comparison.max_difference
    verdict.notes += comparison.notes
    verdict.problems = comparison.wrong[:4] + comparison.missing[:4]
    verdict.compared = comparison.compared
    if comparison.wrong or comparison.missing:
        verdict.status = "wrong" if comparison.wrong else "silent"
    else:
        verdict.status = "partly" if verdict.left_out else "exact"
        if not comparison.compared:
            verdict.status = "unverified"


def _compare_steps(verdict: Verdict, calls: list[Any]) -> None:
    """Count the calls of which every step is the model's own; "not ok" if one is not."""
    for call in calls:
        try:
            comparisons = list(call.verify().comparisons)
            if isinstance(call.inputs, AttentionInputs):
                comparisons += derive(call, call.n_heads - 1).comparisons.values()
        except Exception as error:  # steps that cannot be derived are as bad as wrong ones
            verdict.problems.append(f"{call.name}: {_first_line(error)}")
            continue
        wrong = [
            f"{one.call} {one.stage}: {one.error:.3g} of {one.tolerance:.3g}"
            for one in comparisons
            if not one.ok
        ]
        verdict.problems += wrong
        verdict.verified += not wrong
    if verdict.verified < len(calls):
        verdict.status = "not ok"


def _run(model: PreTrainedModel, inputs: Inputs) -> list[Tensor]:
    """The outputs with the attention that transformers chooses by itself."""
    with torch.no_grad():
        set_seed()
        return main_outputs(model(**inputs))


def _runs_as_plain(verdict: Verdict, ours: list[Tensor], plain: list[Tensor]) -> bool:
    """True where the model's own default differs from its eager attention, and ours follows it."""
    ours_to_plain = outputs_differ(ours, plain)
    upstream = verdict.upstream_difference
    follows = ours_to_plain is not None and ours_to_plain <= 10 * TOLERANCE
    return follows and upstream is not None and not upstream <= 100 * TOLERANCE
