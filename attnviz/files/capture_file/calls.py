"""The calls of a capture file: what each keeps, and the check that its tensors fit one another.

A call is written as the names of its tensors and an object of JSON, and read back only when every
shape agrees: queries with keys, keys with values, masks with both, the layers beside the call with
what they read and wrote. What is not in the file (W_Q … W_O, unless asked for) is said in `absent`.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.kept_heads import KeptHeads
from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.attention.stored_weights import StoredWeights
from attnviz.files.capture_file import parts
from attnviz.files.capture_file.storages import Unpacker, extent
from attnviz.notation.json_fields import Field, Malformed
from attnviz.types import STAGES

INPUTS = ("query", "key", "value", "mask", "bias", "sinks")
STORED = ("kept", "query", "key", "value")
MAX_LAYERS = 10_000
MAX_HEADS = 4_096  # of a layer: those that were not kept have their places in pictures
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
PROJECTIONS = ("q", "k", "v", "out")
WITHOUT_W = "the capture was saved without W_Q, W_K, W_V and W_O (with_weights=True keeps them)"
# what a projection that was left out would have given
GIVES = {"q": "x", "out": "projected"}

Named = Iterator[tuple[str, Tensor]]


# --- writing -----------------------------------------------------------------------------------


def tensors_of(call: AttentionCall, place: str, with_weights: bool) -> Named:
    """The tensors of a call that are written, by the names that they have in the file."""
    names = STORED if isinstance(call.inputs, StoredWeights) else INPUTS
    tensors = [(name, getattr(call.inputs, name)) for name in names]
    tensors.append(("output", call.output))
    for name, layer in call.projections.items() if with_weights else ():
        for part in ("weight", "bias", "input", "output"):
            tensors.append((f"{name}.{part}", getattr(layer, part)))
    yield from ((f"{place}.{name}", tensor) for name, tensor in tensors if tensor is not None)


def may_narrow(name: str) -> bool:
    """True if a tensor of this name may be written in half precision: what the model computed.

    Parameters stay as they are, and so does a bias, whose −1e38 would become infinite.
    """
    last = name.rpartition(".")[2]
    return last not in ("mask", "bias", "sinks", "weight")


def call_json(call: AttentionCall, with_weights: bool, labelled: list[bool]) -> dict[str, object]:
    """All of a call that is not a tensor; `labelled`: do tokens name its queries, and its keys."""
    absent = dict(call.absent)
    if not with_weights:
        absent |= {GIVES[name]: WITHOUT_W for name in call.projections if name in GIVES}
    return {
        "module": call.module,
        "index": call.index,
        "layer": call.layer,
        "stack": call.stack,
        "kind": call.kind,
        "row_step": call.row_step,
        "absent": absent,
        "labelled": labelled,
        "inputs": _inputs_json(call.inputs),
        "projections": {
            name: {
                "starts": list(layer.starts),
                "module": layer.module,
                "turned": layer.turned,
                "factor": layer.factor,
            }
            for name, layer in (call.projections.items() if with_weights else ())
        },
        "windows": parts.windows_json(call.windows),
        "query_places": parts.places_json(call.query_places),
        "key_places": parts.places_json(call.key_places),
    }


def _inputs_json(inputs: AttentionInputs | StoredWeights) -> dict[str, object]:
    heads: dict[str, object] = {}
    if inputs.only is not None:
        numbers, *counts = inputs.only.numbers, inputs.n_heads, inputs.n_kv_heads
        heads = {"heads": [list(numbers), *counts]}
    if isinstance(inputs, StoredWeights):
        return {"type": "weights"} | heads
    names = ("causal", "scaling", "softcap", "sinks_gate")
    return {"type": "qkv"} | {name: getattr(inputs, name) for name in names} | heads


# --- reading -----------------------------------------------------------------------------------


def call(field: Field, place: str, tensors: Unpacker) -> AttentionCall:
    """One call; `Malformed` unless everything in it fits. Its tokens are checked by the caller."""
    entries = field.record(
        "module", "index", "layer", "stack", "kind", "row_step", "absent", "labelled", "inputs",
        "projections", "windows", "query_places", "key_places",
    )  # fmt: skip
    inputs = _inputs(entries["inputs"], place, tensors)
    n_query, n_key, n_batch = inputs.n_query, inputs.n_key, inputs.n_batch
    row_step = entries["row_step"].whole(1, n_query)
    n_rows = len(range(0, n_query, row_step))
    projections = {
        name: _projection(layer, f"{place}.{name}", tensors, inputs.only)
        for name, layer in entries["projections"].entries().items()
    }
    for name, layer in projections.items():
        _check_projection(name, layer, inputs, n_rows)
    query_places = parts.places(entries["query_places"], n_query, n_batch)
    key_places = parts.places(entries["key_places"], n_key, n_batch)
    in_windows = [n for n, at in ((n_query, query_places), (n_key, key_places)) if at is None]
    return AttentionCall(
        module=entries["module"].text(),
        index=entries["index"].whole(),
        layer=entries["layer"].whole(0, MAX_LAYERS - 1),
        stack=parts.stack(entries["stack"]),
        kind=parts.kind(entries["kind"]),
        inputs=inputs,
        output=_output(f"{place}.output", tensors, inputs, n_rows),
        projections=projections,
        absent={
            name: reason.text()
            for name, reason in entries["absent"].entries().items()
            if Field(name, reason.place).one_of(*STAGES)
        },
        row_step=row_step,
        windows=parts.windows(entries["windows"], in_windows, n_batch),
        query_places=query_places,
        key_places=key_places,
    )


def _inputs(field: Field, place: str, tensors: Unpacker) -> AttentionInputs | StoredWeights:
    entries = field.entries()
    some = ("heads",) if "heads" in entries else ()
    only = _kept_heads(entries["heads"]) if some else None
    if entries.get("type", field).value == "weights":
        field.record("type", *some)
        return _stored(place, tensors, only)
    field.record("type", "causal", "scaling", "softcap", "sinks_gate", *some)
    entries["type"].one_of("qkv", "weights")
    q, k, v = (_floats(f"{place}.{name}", tensors, 4, 2) for name in ("query", "key", "value"))
    _require_tokens(place, q, k, v)
    n_batch = max(len(q), len(k))
    heads_fit = len(q) in (1, n_batch) and len(k) in (1, n_batch)
    if only is None:
        heads_fit = heads_fit and q.shape[1] % k.shape[1] == 0
    else:
        rows = len(only.numbers), len(only.kv_numbers)
        heads_fit = heads_fit and (q.shape[1], k.shape[1]) == rows
    if q.shape[3] != k.shape[3] or k.shape[:3] != v.shape[:3] or not heads_fit:
        shapes = ", ".join(str(list(tensor.shape)) for tensor in (q, k, v))
        raise Malformed(f"query, key and value of {place} do not fit one another: {shapes}")
    scores = (n_batch, q.shape[1], q.shape[2], k.shape[2])
    softcap = entries["softcap"].optional()
    return AttentionInputs(
        query=q,
        key=k,
        value=v,
        mask=_over(f"{place}.mask", tensors, scores, boolean=True),
        causal=entries["causal"].flag(),
        scaling=entries["scaling"].number(),
        bias=_over(f"{place}.bias", tensors, scores),
        softcap=None if softcap is None else softcap.number(),
        sinks=_over(f"{place}.sinks", tensors, (*scores[:3], 1), of_heads=True),
        sinks_gate=entries["sinks_gate"].flag(),
        only=only,
    )


def _kept_heads(field: Field) -> KeptHeads:
    """The heads that a capture of some heads has: their numbers, those of its layer, those of k."""
    numbers, n_heads, n_kv_heads = field.rows(3)
    count = n_heads.whole(1, MAX_HEADS)
    heads, shared = tuple(numbers.wholes(most=count - 1)), n_kv_heads.whole(1, count)
    if not heads or list(heads) != sorted(set(heads)) or count % shared:
        raise Malformed(f"{field.place} has heads that no layer has")
    return KeptHeads(heads, count, shared)


def _stored(place: str, tensors: Unpacker, only: KeptHeads | None) -> StoredWeights:
    kept = _floats(f"{place}.kept", tensors, 4, 2)
    _require_tokens(place, kept)
    n_batch, n_heads, n_query, n_key = kept.shape
    if only is not None and (n_heads != len(only.numbers) or only.n_kv_heads != only.n_heads):
        raise Malformed(
            f"{place}.kept is {_described(kept)}; it must have {len(only.numbers)} heads"
        )
    parts_of = {
        name: _floats(f"{place}.{name}", tensors, 4, 2) if f"{place}.{name}" in tensors else None
        for name in STORED[1:]
    }
    for name, tensor in parts_of.items():
        wanted = (n_batch, n_heads, n_query if name == "query" else n_key)
        if tensor is not None and tuple(tensor.shape[:3]) != wanted:
            raise Malformed(f"{place}.{name} is {list(tensor.shape)}; it must begin with {wanted}")
    query, key = parts_of["query"], parts_of["key"]
    if query is not None and key is not None and query.shape[3] != key.shape[3]:
        raise Malformed(f"query and key of {place} differ in width")
    return StoredWeights(kept, query, key, parts_of["value"], only=only)


def _floats(name: str, tensors: Unpacker, dimensions: int, repeatable: int = 0) -> Tensor:
    """A tensor of floating-point numbers, no larger than the memory that it lies in.

    Nothing is to grow out of few bytes: of the first `repeatable` dimensions, texts and heads, the
    memory may be one, as that of shared keys is; in the others no number stands for two.
    """
    tensor = tensors.take(name)
    if tensor.dtype not in FLOATS or tensor.dim() != dimensions:
        raise Malformed(
            f"{name} is {_described(tensor)}; it must have floating-point numbers and"
            f" {dimensions} dimensions"
        )
    shape = tuple(tensor.shape)
    inner = shape[repeatable:]
    overlaps = math.prod(inner) > extent(inner, tensor.stride()[repeatable:])
    if overlaps or math.prod(shape[:repeatable]) > parts.MAX_PLACES:
        raise Malformed(f"{name} has more numbers than its memory: {_described(tensor)}")
    return tensor


def _require_tokens(place: str, *tensors: Tensor) -> None:
    for tensor in tensors:
        if 0 in tensor.shape:
            raise Malformed(f"{place} has a tensor without numbers: {_described(tensor)}")


def _over(
    name: str,
    tensors: Unpacker,
    scores: tuple[int, ...],
    *,
    boolean: bool = False,
    of_heads: bool = False,
) -> Tensor | None:
    """A tensor that broadcasts to the scores, or one number for each head; None without one."""
    if name not in tensors:
        return None
    tensor = tensors.take(name)
    type_fits = tensor.dtype == torch.bool if boolean else tensor.dtype in FLOATS
    shape = tuple(tensor.shape)
    spread = len(shape) == 4 and all(
        count in (1, wanted) for count, wanted in zip(shape, scores, strict=True)
    )
    if not type_fits or not (spread or (of_heads and shape == (scores[1],))):
        raise Malformed(f"{name} is {_described(tensor)}; it must fit {list(scores)}")
    return tensor


def _output(
    name: str, tensors: Unpacker, inputs: AttentionInputs | StoredWeights, n_rows: int
) -> Tensor:
    """The model's own output for weights·V, as its kernel returned it."""
    output = _floats(name, tensors, 4, 1)
    wanted = (inputs.n_batch, n_rows, len(inputs.kept_heads))
    width = None if inputs.value is None else inputs.value.shape[3]
    if tuple(output.shape[:3]) != wanted or width not in (None, output.shape[3]):
        raise Malformed(f"{name} is {_described(output)}; it must be {[*wanted, width]}")
    return output


def _projection(field: Field, place: str, tensors: Unpacker, only: KeptHeads | None) -> Projection:
    name = Field(place.rpartition(".")[2], field.place).one_of(*PROJECTIONS)
    entries = field.record("module", "starts", "turned", "factor")
    weight = _floats(f"{place}.weight", tensors, 2)
    read, wrote = (_floats(f"{place}.{name}", tensors, 3, 1) for name in ("input", "output"))
    bias = _floats(f"{place}.bias", tensors, 1) if f"{place}.bias" in tensors else None
    fits = read.shape[:2] == wrote.shape[:2] and weight.shape == (read.shape[2], wrote.shape[2])
    if not fits or (bias is not None and len(bias) != wrote.shape[2]):
        raise Malformed(f"the tensors of {place} do not fit one another")
    return Projection(
        module=entries["module"].text(),
        layer=WrittenLayer(weight, bias),
        input=read,
        output=wrote,
        starts=tuple(entries["starts"].wholes(most=parts.MAX_TEXT)),
        turned=entries["turned"].flag(),
        factor=entries["factor"].number(),
        only=None if only is None or name == "out" else only.of(name),
    )


def _check_projection(
    name: str, layer: Projection, inputs: AttentionInputs | StoredWeights, n_rows: int
) -> None:
    """Refuse a layer that is too small for the heads that read from it or write to it."""
    side = {"q": inputs.query, "k": inputs.key, "v": inputs.value, "out": inputs.value}[name]
    if side is None:
        raise Malformed(f"projection {name} belongs to a tensor that is not there")
    n_heads, width = (inputs.n_heads if name == "out" else side.shape[1]), side.shape[3]
    into = layer.input if name == "out" else layer.output
    rows_fit = name != "out" or layer.output.shape[1] == (n_rows if inputs.only is None else 0)
    heads_fit = len(layer.starts) == n_heads and max(layer.starts) + width <= into.shape[2]
    whole = name != "out" or into.shape[2] == n_heads * width
    turns = not layer.turned or width % 2 == 0
    if not (rows_fit and heads_fit and whole and turns and len(into) == inputs.n_batch):
        raise Malformed(f"projection {name} ({layer.module:.60}) does not fit its heads")


def _described(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
