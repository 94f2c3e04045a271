"""From changes as data to functions of stages, at the places where they are made.

In: changes, a model's layout, and the corpora that ablations refer to. Out: `PlacedChanges` by
`CallPlace`. What this model or this layer cannot do is refused here, by name, before anything runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.stage_changes import ChangeableStage, Function, StageChange, edited
from attnviz.capture.changed import functions
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.capture.changed.layout import CallSite, Layout
from attnviz.changes.kinds import Ablate, Change, Corpus, Cut, Edited, Mask, Patch, Pattern
from attnviz.errors import BadInput, UnsupportedAttention

CorpusOf = Callable[[Ablate], Corpus]


def placed(
    changes: Sequence[Change], layout: Layout, corpus_of: CorpusOf
) -> Mapping[CallPlace, PlacedChanges]:
    """The changes at each place, in the order in which they were requested.

    Raises `BadInput` for a head that the model does not have or a source that does not fit it, and
    `UnsupportedAttention` where the model's own code or its windows do not allow the change.
    """
    by_place: dict[CallPlace, list[StageChange]] = {}
    sites: dict[CallPlace, CallSite] = {}
    for change in changes:
        for call in layout.find(change.site):
            sites[call.place] = call
            by_place.setdefault(call.place, []).extend(
                StageChange(stage, function, heads, text=str(change))
                for heads, stage, function in head_functions(change, call, corpus_of)
            )
    return {place: sites[place].placed(stage_changes) for place, stage_changes in by_place.items()}


def head_functions(
    change: Change, call: CallSite, corpus_of: CorpusOf
) -> Iterator[tuple[tuple[int, ...], ChangeableStage, Function]]:
    """(heads, the stage that a change is made at, its function for them) for all heads of a call.

    Raises what `placed` raises.
    """
    require_possible(change, call)
    for heads in _heads(change, call):
        yield (heads, *_resolved(change, call, heads, corpus_of))


def _heads(change: Change, call: CallSite) -> list[tuple[int, ...]]:
    """The heads that one function changes: all of them, but for numbers of each head's own."""
    if change.site.head is not None:
        return [(change.site.head,)]
    heads = tuple(range(call.n_heads))
    return [(head,) for head in heads] if isinstance(change, Patch) else [heads]


def _resolved(
    change: Change, call: CallSite, heads: tuple[int, ...], corpus_of: CorpusOf
) -> tuple[ChangeableStage, Function]:
    """The stage that a change is made at, and its function for these heads."""
    if isinstance(change, Ablate):
        return "mixed", _ablation(change, call, corpus_of)
    if isinstance(change, Pattern):
        return _pattern(change)
    if isinstance(change, Edited):
        return change.entry.stage, edited(change.entry)
    if isinstance(change, Mask):
        return "mask", _mask(change)
    if isinstance(change, Cut):
        return _cut(change, call)
    return patched(change, call, heads[0])


def _ablation(change: Ablate, call: CallSite, corpus_of: CorpusOf) -> Function:
    if change.to == "zero":
        return functions.zero
    vectors = corpus_of(change).vectors(call.site)
    if change.to == "mean":
        return functions.by_head(vectors.mean)
    return functions.drawn(vectors.sample, change.seed)


def _pattern(change: Pattern) -> tuple[ChangeableStage, Function]:
    if change.to == "temperature":
        return "masked", functions.divided(change.temperature)
    if change.weights is None:
        return "weights", functions.even
    return "weights", functions.laid(change.weights, f"the matrix {change.name!r}")


def _mask(change: Mask) -> Function:
    if change.named is not None:
        return functions.named_masks(change.named)
    assert change.may_attend is not None, "a mask is named or a matrix"
    return functions.allowed(change.may_attend, f"the mask {change.name!r}")


def _cut(change: Cut, call: CallSite) -> tuple[ChangeableStage, Function]:
    if not change.renormalise:
        return "weights", functions.without_edges(change.query, change.key)
    return "mask", functions.hidden(change.query, change.key)


# --- patching -----------------------------------------------------------------------------------


def patched(change: Patch, call: CallSite, head: int) -> tuple[ChangeableStage, Function]:
    """The stage that a patch is made at, and its function for one head.

    Raises `BadInput` for a row of the source that does not exist, and `UnsupportedAttention` for a
    stage that was not seen in it.
    """
    own = _source_call(change, call)
    own.check(head, change.batch)
    name = f"the source {change.name!r}"
    table = _real(change, own, _stage_of(change, own, head))
    if change.stage == "weights":
        laid, place = functions.laid(table, name), change.position
        return "weights", laid if place is None else functions.at_query(laid, place)
    of_keys = change.stage in ("k", "v")
    return change.stage, functions.kept(table, of_keys, change.position, name)


def _source_call(change: Patch, call: CallSite) -> AttentionCall:
    """The source's call at the same place; else of the same layer, kind and stack."""
    source: Capture = change.source
    same = [other for other in source.calls if other.module == call.place.module]
    if len(same) > call.place.nth:
        return same[call.place.nth]
    return source.call(call.site.layer, call.site.kind, call.site.stack)


def _stage_of(change: Patch, own: AttentionCall, head: int) -> Tensor:
    """The source's numbers at the stage, [position, …]."""
    if change.stage == "mixed" and own.row_step == 1:
        row = own.inputs.row(head)
        return own.output[min(change.batch, len(own.output) - 1), :, row].float()
    numbers = own.stages(head, change.batch).get(change.stage)
    if numbers is None:
        raise UnsupportedAttention(
            f"{change}: {own.module} computes attention with code of its own, where {change.stage}"
            " was not seen; keep weights or mixed",
            code="stage_unseen",
            module=own.module,
            stage=change.stage,
        )
    return numbers


def _real(change: Patch, own: AttentionCall, table: Tensor) -> Tensor:
    """The part of a table that stands for the source's real tokens."""
    source = change.source
    if not source.tokens_by_stack:  # recorded from numbers alone: nothing is known to be padding
        return table
    queries = _slice_of(source.query_tokens(own, change.batch).padding, len(table))
    keys = _slice_of(source.key_tokens(own, change.batch).padding, table.shape[-1])
    if change.stage == "weights":
        return table[queries, keys]
    if change.stage in ("k", "v"):
        keys = _slice_of(source.key_tokens(own, change.batch).padding, len(table))
        return table[keys]
    return table[queries]


def _slice_of(padding: object, n: int) -> slice:
    """The real tokens of a row, one after the other; all where the tokens are not these."""
    flags = list(padding)  # type: ignore[call-overload]
    if len(flags) != n or not any(flags):
        return slice(None)
    real = [place for place, is_padding in enumerate(flags) if not is_padding]
    return slice(real[0], real[-1] + 1)


# --- what cannot be done ------------------------------------------------------------------------


def require_possible(change: Change, call: CallSite) -> None:
    """Raise `UnsupportedAttention` or `BadInput` for a change that a call cannot take."""
    is_output = isinstance(change, Ablate) or isinstance(change, Patch) and change.stage == "mixed"
    if not (is_output and call.projected):
        require_changeable(change, call)
    if not isinstance(change, Ablate):
        _require_positions(change, call)


def require_changeable(change: object, call: CallSite) -> None:
    """Raise `UnsupportedAttention` for a call of own code whose steps to the weights are not known.

    `change` is what was asked of it.
    """
    if call.only_weights:
        raise own_code_unchanged(change, call.place.module)


def own_code_unchanged(change: object, module: str) -> UnsupportedAttention:
    """The error for a change of a module that does not use transformers' attention interface."""
    return UnsupportedAttention(
        f"{change}: {module} computes attention with its own code: attnviz can record this"
        " attention but not make this change: no linear layer that reads the heads' outputs was"
        " found, or an earlier step is unknown; ablate its heads or patch their outputs, if there"
        " is such a layer, or choose a model with transformers' attention interface",
        code="own_code_unchanged",
        module=module,
    )


def _require_positions(change: Change, call: CallSite) -> None:
    """Raise `BadInput` for positions in a layer whose rows are windows of a picture."""
    free = isinstance(change, Pattern) and change.to != "matrix"
    if call.windowed and not free:
        raise BadInput(
            f"{change}: layer {call.site} attends inside windows of a picture, each a row of the"
            " batch with positions of its own; ablate its heads, or make its weights even",
            code="windowed",
            asked=str(change),
            site=str(call.site),
        )
