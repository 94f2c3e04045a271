"""`capture`: from a text, a picture or a sound to every attention head, in one forward pass.

In: a model and the arguments of a `Request`. Out: a `Capture`. First everything is checked and
tokenised; then the model runs once under its lock, or writes, and the steps are joined; then every
token gets a name. Nothing half-captured is returned: an error anywhere raises.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import SupportsIndex

import torch
from torch import Tensor, nn

from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import NOT_KEPT, Capture, MissingCall
from attnviz.audio.sound import Sound
from attnviz.capture.arguments import Picture, bad_inputs
from attnviz.capture.changed.layout import Layout, layout_of, remember_calls, remembered
from attnviz.capture.changed.run import changes_planned, learned_layout
from attnviz.capture.generation import logits
from attnviz.capture.generation.decode import Written, require_can_write, write
from attnviz.capture.generation.join import join
from attnviz.capture.generation.settings import Generation
from attnviz.capture.interruption import Check, interruptible
from attnviz.capture.locate.modules import modules_by_name
from attnviz.capture.locate.own_code import may_have_own_code
from attnviz.capture.locate.windows import with_windows
from attnviz.capture.plan.plan import Plan
from attnviz.capture.plan.planners import plan
from attnviz.capture.quiet import without_warnings
from attnviz.capture.record.noted import noted_calls, noting
from attnviz.capture.record.pass_log import PassBefore
from attnviz.capture.record.recorder import MAX_WHOLE_ROWS, recording, row_step
from attnviz.capture.request import ModelInputs, Request, Text
from attnviz.capture.storage import KeptCalls, Storage, StoredType
from attnviz.capture.token_names import patch_grid, token_names
from attnviz.capture.token_order import with_token_order
from attnviz.changes.kinds import Change
from attnviz.changes.site import site
from attnviz.errors import BadInput, UnsupportedAttention, bad_argument, whole
from attnviz.lazy import Later
from attnviz.models import architecture
from attnviz.models.files import first_line
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.types import HeadId, Site, Where

Keep = Sequence[int | Where] | int | str | HeadId | Site
FEW = 8  # tokens, enough to see where a model attends
TEXTS = ("input_ids", "decoder_input_ids")
TEXT_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


@dataclass(frozen=True, eq=False)
class Pass:
    """The recorded calls of one run, what the model returned, and what it wrote, if it did."""

    calls: tuple[AttentionCall, ...]
    output: Mapping[str, object]
    written: Written | None = None
    missing: tuple[MissingCall, ...] = ()

    def tensor(self, name: str) -> Tensor | None:
        """A tensor that the model returned; None if there is none of that name."""
        value = self.output.get(name)
        return value if isinstance(value, Tensor) else None


def capture(
    lm: LoadedModel | nn.Module | str | Path,
    text: Text | None = None,
    text_pair: Text | None = None,
    *,
    target: Text | None = None,
    image: Picture | Sequence[Picture] | None = None,
    sound: Sound | str | Path | None = None,
    inputs: ModelInputs | None = None,
    generate: int | Generation = 0,
    cut: bool = False,
    chat: bool = False,
    store: StoredType | None = None,
    offload: bool | str | Path = False,
    keep: Keep | None = None,
    changes: Sequence[Change] = (),
) -> Capture:
    """Run the model once and keep every attention call.

    Parameters: `lm` is a loaded model; a module, or a name, hub id or folder, is loaded first, at
    each call. Give one of these to read:

    - `text`, or a list of texts as one padded batch. `text_pair` adds a second sentence to each;
      `target` is the text that an encoder-decoder's decoder reads (teacher forcing).
    - `image`: a `PIL.Image`, an array of bytes [row, column, 3] or a path, or a list of these.
    - `text` and `image` together, for a model that reads both.
    - `sound`: an `attnviz.Sound` or the path of a WAV file; `target` is then its transcript.
    - `inputs`: tensors, arrays or lists by the names of the model's arguments, such as
      `{"input_ids": [[1, 2, 3]]}`; a tokenizer's result can be given as it is.
    - nothing, for a model that comes with inputs of its own (`lm.example`).

    The other arguments say how:

    - `generate` lets the model write so many tokens first; a `Generation` says how. The last of
      them is never read and has no row: `n_generated` is one less.
    - `cut` keeps the beginning of a text that is too long.
    - `chat` puts each text, with its picture, as a message into the model's chat template.
    - `store`: "float16" keeps the calls in half the memory.
    - `offload`: True keeps them in main memory instead of on the model's device, a folder in files
      there, which are gone with the capture: layer by layer while the model runs, at its end if it
      writes or if a layer's weight cannot be read.
    - `keep`: the layers or heads to keep, as numbers or names: `range(8, 16)`, `["L8", "L2.H1"]`,
      `"cross.L2.H5"`. The others run as ever and nothing of them stays in memory; `missing` names
      the layers, `call.kept_heads` has the heads. What needs all layers or heads, such as rollout,
      says so.
    - `changes` are made to the heads while the model runs (`attnviz.ablate`, `patch`, `cut`,
      `pattern`), at each new token that it writes too; the capture says so in `call.changes`, and
      is derived with them.

    Returns a `Capture`: q, k, v and mask of each call, from which every step is derived on demand.

    Raises `BadInput` for an argument that makes no sense, that does not go with the others, or that
    this model has no use for; `TooLarge` for a text over the model's limit and, after the first
    layer, for a capture that would not fit into memory; `ModelNotFound` for a name that cannot be
    loaded; `UnsupportedAttention` for attention that cannot be derived exactly.

    Example:

    >>> text = "When Mary and John went to the store, John gave a book to"
    >>> cap = attnviz.capture("stories", text)
    >>> round(float(cap.weights("L2.H1")[-1, 2]), 2), cap.tokens.labels[2]  # from "to" to "Mary"
    (0.98, 'Mary')
    >>> cap.verify().ok
    True
    """
    request = Request.of(
        text,
        text_pair,
        target=target,
        image=image,
        sound=sound,
        inputs=inputs,
        generate=generate,
        cut=cut,
        chat=chat,
    )
    loaded = lm if isinstance(lm, LoadedModel) else load(lm)
    return capture_request(
        loaded, request, store=store, offload=offload, keep=keep, changes=changes
    )


def capture_request(
    lm: LoadedModel,
    request: Request,
    *,
    store: StoredType | None = None,
    offload: bool | str | Path = False,
    keep: Keep | None = None,
    changes: Sequence[Change] = (),
    check: Check | None = None,
    scores: bool = True,
) -> Capture:
    """The capture of a request; the other arguments and errors are those of `capture`.

    `check` is called before each layer runs; what it raises ends the pass. Without `scores` a model
    that can leave them out scores the last token alone.
    """
    sites = None if keep is None else _sites(keep)
    storage = Storage(store, offload)
    with without_warnings():
        planned = plan(lm, request)
        is_plain = not changes and sites is None and storage.changes_nothing
        if is_plain and _may_be_noted(request, planned):
            noted = _noted(lm, request, planned, check, scores)
            if noted is not None:
                return noted
        if sites is not None:
            storage = Storage(store, offload, _kept(lm, request, planned, sites))
        run = _run(lm, request, planned, changes, check, scores, storage)
        if sites is not None:
            known = _called(layout_of(run.calls, planned.n_input), sites)
            if known != storage.only:  # these inputs attend elsewhere than the few tokens
                storage = Storage(store, offload, known)
                run = _run(lm, request, planned, changes, check, scores, storage)
    remember_calls(lm, run.calls, planned.n_input)
    calls = run.calls if run.written is None else storage.keep_all(map(_thinned, run.calls))
    calls = with_windows(lm.model, calls, planned.n_input, patch_grid(lm, planned))
    with lm.lock:
        calls = with_token_order(lm.model, calls, planned.n_input)
    names = token_names(lm, planned, calls, run.written)
    left_out = dict.fromkeys(
        MissingCall(call.module, NOT_KEPT) for call in calls if not storage.keeps(call)
    )
    calls = tuple(filter(storage.keeps, calls))
    result = Capture(
        model=lm.key,
        calls=calls,
        tokens_by_stack=names.by_stack,
        n_generated=names.n_generated,
        grid=names.grid,
        frame_s=names.frame_s,
        hidden=storage.moved(run.tensor("last_hidden_state")),
        logits=storage.moved(logits.kept(run.tensor("logits"))),
        missing=(*run.missing, *left_out),
    )
    _require_numbers(lm, result)
    if is_plain and _may_be_noted(request, planned):
        _remember(lm, planned, result)
    return result


def _may_be_noted(request: Request, planned: Plan) -> bool:
    """True for short texts that are read and nothing else."""
    if request.kind not in ("text", "inputs") or request.generation is not None:
        return False
    texts = (planned.tensor(name) for name in TEXTS)
    is_short = all(ids is None or ids.shape[-1] <= MAX_WHOLE_ROWS for ids in texts)
    return is_short and all(name.endswith(TEXT_INPUTS) for name in planned.inputs)


def _noted(
    lm: LoadedModel, request: Request, planned: Plan, check: Check | None, scores: bool
) -> Capture | None:
    """The capture of a pass that is only noted; None where it has to be recorded as it runs.

    The model runs here; the recorder runs when `calls` of the capture is first read, or at once
    if the note is too large to keep.
    """
    with (
        lm.lock,
        torch.no_grad(),
        _blamed_on_inputs(lm, request),
        interruptible(lm.model, check),
        noting(lm.model, _n_token(planned)) as log,
    ):
        if log is None:
            return None
        output = lm.model(**planned.inputs, **_single_pass(lm, planned, scores))
    if not log.counts(planned.n_input, MAX_WHOLE_ROWS):
        return None
    calls = Later(partial(noted_calls, log))
    if log.is_large():
        calls()
    answer = Pass((), output if isinstance(output, Mapping) else {})
    result = Capture.later(
        lambda: {"calls": calls()},
        model=lm.key,
        tokens_by_stack=dict(planned.tokens),
        hidden=answer.tensor("last_hidden_state"),
        logits=logits.kept(answer.tensor("logits")),
    )
    _require_numbers(lm, result)
    return result


def _remember(lm: LoadedModel, planned: Plan, result: Capture) -> None:
    """Let the next pass like this one be noted, if nothing beside its calls had to be found."""
    modules = modules_by_name(lm.model)
    is_simple = (
        not result.missing
        and result.tokens_by_stack.keys() == planned.tokens.keys()
        and result.grid is None
        and not modules.fact(may_have_own_code)
        and all(call.row_step == 1 and call.windows is None for call in result.calls)
    )
    if is_simple and modules.remembered(PassBefore) is None:
        modules.remember(PassBefore(result.nbytes // _n_token(planned)))


def _n_token(planned: Plan) -> int:
    """The number of tokens of all texts, of both stacks."""
    texts = map(planned.tensor, TEXTS)
    return sum(ids.numel() for ids in texts if ids is not None)


def _sites(keep: Keep) -> tuple[Site, ...]:
    """The layers and heads that are to be kept; raises `BadInput` for what names none."""
    given = [keep] if isinstance(keep, str | HeadId | Site | SupportsIndex) else keep
    sites = tuple(map(_site, given))
    if not sites:
        raise bad_argument(
            "keep= is empty; name at least one layer or head, or leave it out to keep all",
            name="keep",
            found="nothing",
            allowed="L8, L2.H1",
        )
    return sites


def _site(named: int | Where) -> Site:
    if not isinstance(named, SupportsIndex):
        return site(named)
    if whole(named) < 0:
        raise bad_argument(
            f"keep= has {named!r}, which is no layer: they count from 0",
            name="keep",
            found=str(named),
            allowed="L8, L2.H1",
        )
    return Site(whole(named))


def _kept(lm: LoadedModel, request: Request, planned: Plan, sites: Sequence[Site]) -> KeptCalls:
    """The calls and heads that are to be kept; found in a pass of a few tokens if need be."""
    with lm.lock:
        known = remembered(lm, sites)
        if known is None:
            short = _shortened(lm.model, planned.inputs)
            n_input = planned.n_input if short is planned.inputs else 1
            with _blamed_on_inputs(lm, request):
                known = learned_layout(lm, short, n_input)
    return _called(known, sites)


def _called(layout: Layout, sites: Sequence[Site]) -> KeptCalls:
    """The names of the calls, each with the heads that sites name; None where one means all."""
    kept: dict[str, tuple[int, ...] | None] = {}
    for place in sites:
        for call in layout.find(place):
            name = f"{call.place.module}#{call.place.nth}"
            every = tuple(range(call.n_heads))
            more = every if place.head is None else (place.head,)
            before = kept.get(name, ())
            heads = tuple(sorted({*(every if before is None else before), *more}))
            kept[name] = None if heads == every else heads
    return kept


def _shortened(model: nn.Module, inputs: Mapping[str, object]) -> Mapping[str, object]:
    """The first tokens of the first text; the inputs as they are if they are more than texts.

    Or if the model exchanges its attention for short texts, and would not take it back.
    """
    ids = {
        name: x[:1, :FEW]
        for name, x in inputs.items()
        if name.endswith("input_ids") and isinstance(x, Tensor)
    }
    are_texts = ids and all(name.endswith(TEXT_INPUTS) for name in inputs)
    if not are_texts or any(hasattr(part, "set_attention_type") for part in model.modules()):
        return inputs
    return ids


def _run(
    lm: LoadedModel,
    request: Request,
    planned: Plan,
    changes: Sequence[Change],
    check: Check | None,
    scores: bool,
    storage: Storage,
) -> Pass:
    """Run the model; a second time if it exchanged its modules in the first."""
    # a model that hears has written already, while it was planned
    generation = None if request.kind == "sound" else request.generation
    if generation is not None:
        require_can_write(lm, planned.inputs, generation)
    try:
        return _run_once(lm, request, planned, generation, changes, check, scores, storage)
    except UnsupportedAttention as error:
        if error.code != "modules_changed":
            raise
        return _run_once(lm, request, planned, generation, changes, check, scores, storage)


def _run_once(
    lm: LoadedModel,
    request: Request,
    planned: Plan,
    generation: Generation | None,
    changes: Sequence[Change],
    check: Check | None,
    scores: bool,
    storage: Storage,
) -> Pass:
    is_writing = generation is not None
    with (
        lm.lock,
        torch.no_grad(),
        _blamed_on_inputs(lm, request),
        interruptible(lm.model, check),
        changes_planned(lm, planned.inputs, planned.n_input, changes),
        recording(lm.model, thin=not is_writing, newest=is_writing, storage=storage) as recorder,
    ):
        if generation is not None:
            written = write(lm, planned.inputs, generation)
        else:
            output = lm.model(**planned.inputs, **_single_pass(lm, planned, scores))
    missing = tuple(recorder.missing.calls)
    answer: Mapping[str, object]
    if generation is None:
        answer = output if isinstance(output, Mapping) else {}
        return Pass(tuple(recorder.calls), answer, missing=missing)
    answer = {} if written.logits is None else {"logits": written.logits}
    return Pass(join(recorder.steps, written), answer, written, missing)


def _single_pass(lm: LoadedModel, planned: Plan, scores: bool) -> dict[str, int]:
    """The options that keep a single pass from a copy of all keys and values, and from scores.

    Scores that `logits.kept` would drop again are not computed, and without `scores` those of the
    last token alone.
    """
    scored = logits.of_last_tokens(lm.model, planned.inputs, most=None if scores else 1)
    return scored | architecture.without_cache(lm.model, planned.inputs)


@contextmanager
def _blamed_on_inputs(lm: LoadedModel, request: Request) -> Iterator[None]:
    """Turn an error that a model raises for its inputs into a `BadInput` with its reason.

    A text leads to an index that the model does not have if its tokenizer is another model's.
    """
    try:
        yield
    except (RuntimeError, TypeError, ValueError, IndexError, KeyError) as error:
        if request.text and isinstance(error, IndexError):
            raise BadInput(
                f"the tokenizer of {lm.name} gave an index that the model does not have:"
                f" {first_line(error)}; they do not belong together",
                code="tokenizer_mismatch",
                name=lm.name,
            ) from error
        if request.kind != "inputs":
            raise
        names = ", ".join(request.inputs or ())
        raise bad_inputs(
            f"{lm.name} cannot run on the inputs {names}: {type(error).__name__}:"
            f" {first_line(error)}"
        ) from error


def _thinned(call: AttentionCall) -> AttentionCall:
    """The call with samples of what the model computed, if its text is long."""
    step = row_step(call.n_query) if call.row_step == 1 else 1
    return memory.thinned(call, step) if step > 1 else call


def _require_numbers(lm: LoadedModel, result: Capture) -> None:
    for tensor in (result.hidden, result.logits):
        # the largest is NaN if any is
        if tensor is not None and tensor.numel() and bool(tensor.amax().isnan()):
            raise BadInput(
                f"{lm.name} answered with NaN: its weights or the inputs may be damaged, or its"
                " number type too small (float16)",
                code="nan_output",
                name=lm.name,
            )
