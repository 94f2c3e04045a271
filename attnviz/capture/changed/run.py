"""`changed`: a model whose heads are changed while a block runs.

In: a loaded model and changes. Out: nothing; every forward pass of the model inside the block, and
all that it generates, is made with them. Which calls the changes mean is told by a clean pass: of
the very inputs where they are known, else of a short text, picture or sound. The model is put back
as it was, and no other thread sees the changes: they stand in a context variable.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import torch
from torch import nn

from attnviz.capture.changed import corpus, layout
from attnviz.capture.changed.changer import CallPlace, Changer, PlacedChanges, module_of
from attnviz.capture.changed.layout import Layout
from attnviz.capture.changed.references import reference_of
from attnviz.capture.changed.resolve import own_code_unchanged, placed
from attnviz.capture.changed.seen_calls import own_code_seen
from attnviz.capture.locate.modules import Modules, modules_by_name
from attnviz.capture.locate.own_code import interface_configs
from attnviz.capture.plan.text import start_token
from attnviz.capture.record.interface import Changes, changing, reading
from attnviz.capture.record.recorder import recording
from attnviz.capture.record.switch import on_our_functions
from attnviz.capture.storage import Storage
from attnviz.changes.kinds import Change
from attnviz.errors import BadInput, UnsupportedAttention, bad_argument
from attnviz.models.loaded_model import LoadedModel


@contextmanager
def changed(lm: LoadedModel, *changes: Change) -> Iterator[None]:
    """Every pass of `lm.model` inside the block is made with the changes.

    Parameters: `lm`, a loaded model, and `changes`, made by `attnviz.ablate`, `patch`, `cut`,
    `pattern`, `edit` or `mask`.

    Returns None to the block; the model is this thread's alone while it runs.

    Raises `BadInput` for a head that the model does not have, and `UnsupportedAttention` for a
    change that cannot be made in it, or whose layer did not run inside the block.

    Example:

    >>> import torch
    >>> lm = attnviz.load("stories")
    >>> ids = lm.tokenizer("Tom had a red", return_tensors="pt")
    >>> with torch.no_grad():
    ...     before = lm.model(**ids).logits
    ...     with attnviz.changed(lm, attnviz.ablate("L2.H1")):
    ...         after = lm.model(**ids).logits
    >>> torch.equal(before, after)
    False
    """
    require_changes(changes)
    sites = [change.site for change in changes]
    with lm.lock:
        known = layout.remembered(lm, sites) or probed(lm)
        with unchanged():
            by_place = placed(changes, known, lambda change: corpus.of_ablation(lm, change))
        with changes_made(lm.model, by_place):
            yield


@contextmanager
def changes_made(
    model: nn.Module, by_place: Mapping[CallPlace, PlacedChanges]
) -> Iterator[Changer]:
    """While the block runs, attention at these places is changed. The caller holds the lock."""
    modules = modules_by_name(model)
    changer = Changer(modules, by_place)
    wanted = {
        place.module
        for place, placed in by_place.items()
        if not placed.only_outputs
        or placed.read_by_product
        or isinstance(module_of(modules, place.module), nn.MultiheadAttention)
    }
    with (
        _attending(modules, changer, changer),
        own_code_seen(modules, wanted) as seen,
        reading.block(changer.read_by_product),
    ):
        if seen is not None:
            changer.watch_own_code(seen, modules)
        yield changer
    if changer.n_passes:
        _require_made(changer, by_place)


def _require_made(changer: Changer, by_place: Mapping[CallPlace, PlacedChanges]) -> None:
    """Raise `UnsupportedAttention` for changes that were not made."""
    for place in changer.missed:
        is_list = isinstance(changer.modules.get(place.module), nn.ModuleList)
        if place.module in changer.ran or is_list:  # but not through the attention interface
            raise own_code_unchanged(by_place[place].changes[0], place.module)
    if changer.missed:
        missed = ", ".join(dict.fromkeys(place.module for place in changer.missed))
        raise UnsupportedAttention(
            f"{missed} was to be changed and did not run: these inputs do not reach it",
            code="not_changed",
            modules=missed,
        )


Watcher = TypeVar("Watcher", bound=Changes)


@contextmanager
def attention_watched(model: nn.Module, make: Callable[[Changer], Watcher]) -> Iterator[Watcher]:
    """While the block runs, `make`'s object is told of every attention call instead of a changer.

    It gets a changer without changes, which knows the place of each call. The caller holds the
    model's lock.
    """
    modules = modules_by_name(model)
    changer = Changer(modules, {})
    watcher = make(changer)
    with _attending(modules, changer, watcher):
        yield watcher


@contextmanager
def _attending(modules: Modules, changer: Changer, changes: Changes) -> Iterator[None]:
    """The model on attnviz's attention function, which hands each call to `changes`."""
    with ExitStack() as stack:
        stack.callback(changer.close)
        changer.acts_as = None if changes is changer else changes
        stack.enter_context(changing.block(changes))
        stack.enter_context(on_our_functions(modules.values(), interface_configs(modules)))
        yield


@contextmanager
def unchanged() -> Iterator[None]:
    """While the block runs, changes of an outer block are left out: for passes that look only."""
    with changing.block(None):
        yield


@contextmanager
def changes_planned(
    lm: LoadedModel, inputs: Mapping[str, Any], n_input: int, changes: Sequence[Change]
) -> Iterator[None]:
    """As `changed`, for inputs that are known: a clean pass of these says what the changes mean.

    The caller holds the model's lock. Without changes nothing is done.
    """
    require_changes(changes)
    if not changes:
        yield
        return
    known = learned_layout(lm, inputs, n_input)
    with unchanged():
        by_place = placed(changes, known, lambda change: corpus.of_ablation(lm, change))
    with changes_made(lm.model, by_place):
        yield


def learned_layout(lm: LoadedModel, inputs: Mapping[str, Any], n_input: int) -> Layout:
    """The layout of a clean pass of some inputs, kept with the model. The caller holds the lock."""
    complete = dict(inputs)
    if lm.kind == "encoder-decoder" and "decoder_input_ids" not in inputs:
        start = torch.full((n_input, 1), start_token(lm.model), device=lm.key.device)
        complete["decoder_input_ids"] = start
    nothing = Storage(only={})  # shapes are enough
    with (
        unchanged(),
        torch.no_grad(),
        recording(lm.model, thin=True, storage=nothing) as recorder,
    ):
        lm.model(**complete)
    learned = layout.layout_of(recorder.calls, n_input)
    layout.remember(lm, learned)
    return learned


def probed(lm: LoadedModel) -> Layout:
    """The layout of a pass of a short text, a picture, or the inputs that come with the model."""
    if lm.tokenizer is not None and lm.example is None:
        encoded = lm.tokenizer("a", return_tensors="pt")
        names = set(lm.tokenizer.model_input_names) & set(encoded)
        return learned_layout(lm, {name: encoded[name].to(lm.key.device) for name in names}, 1)
    try:
        plan = next(corpus.plans(lm, reference_of(lm)))
    except BadInput as error:
        known = layout.remembered(lm, [])
        if known is not None:  # it can say why it has not what is asked for
            return known
        raise BadInput(
            f"it is not known which heads {lm.name} has: capture something with it first, or pass"
            " changes= to attnviz.capture",
            code="no_layout",
            name=lm.name,
        ) from error
    return learned_layout(lm, plan.inputs, corpus.PASS_TEXTS)


def require_changes(changes: Sequence[object] | Change) -> None:
    """Raise `BadInput` for what is no change, and for one change in place of a list."""
    if isinstance(changes, Change):
        raise bad_argument(
            f"changes= is one {type(changes).__name__}; put it into a list",
            name="changes",
            found=type(changes).__name__,
            allowed="a list",
        )
    for change in changes:
        if not isinstance(change, Change):
            raise bad_argument(
                f"{type(change).__name__} is not a change; make one with attnviz.ablate, patch,"
                " cut, pattern, edit or mask, or read them with attnviz.changes.parse",
                name="changes",
                found=type(change).__name__,
                allowed="ablate, patch, cut, pattern, edit, mask",
            )
