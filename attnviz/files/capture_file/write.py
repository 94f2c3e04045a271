"""Writing a capture file.

In: a capture. Out: one safetensors file. What several tensors share is written once; the model's
parameters are written only when asked for, and so are the model's own answers, which nothing in
this file is derived from.
"""

import json
import math
from importlib.metadata import PackageNotFoundError, version
from io import BufferedIOBase
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import BadInput, TooLarge
from attnviz.files.capture_file import calls, parts, storages
from attnviz.files.capture_file.storages import pack
from attnviz.types import MIB

FORMAT, VERSION = "attnviz-capture", 1
ENTRY = "attnviz"  # of the file's metadata
MAX_DESCRIBED = 32 * MIB  # bytes of JSON in one file
Half = Literal["float16", "bfloat16"]


class Content(NamedTuple):
    """Flat arrays by name, and the file's metadata."""

    arrays: dict[str, Tensor]
    metadata: dict[str, str]


def write(
    cap: Capture,
    file: BufferedIOBase,
    *,
    dtype: Half | torch.dtype | None = None,
    with_weights: bool = False,
    with_outputs: bool = False,
) -> None:
    """Write a capture file.

    `dtype` is half precision for what the model computed, "float16" or "bfloat16"; `with_weights`
    keeps W_Q, W_K, W_V and W_O with what they read and wrote, so that X and ·W_O can be derived;
    `with_outputs` keeps `hidden` and `logits`. Raises `BadInput` for another dtype and for numbers
    that do not fit it, `UnsupportedAttention` where keys were overwritten since they were recorded,
    and `TooLarge` for more texts than one file describes.
    """
    content = _content(cap, dtype, with_weights, with_outputs)
    file.writelines(storages.chunks(content.arrays, content.metadata))


def _content(
    cap: Capture, dtype: Half | torch.dtype | None, with_weights: bool, with_outputs: bool
) -> Content:
    narrow = _half(dtype)
    tensors: dict[str, Tensor] = {}
    for number, call in enumerate(cap.calls):
        if isinstance(call.inputs, AttentionInputs):
            call.inputs.require_untouched()
        tensors |= calls.tensors_of(call, f"calls.{number}", with_weights)
    if with_outputs:
        outputs = {"hidden": cap.hidden, "logits": cap.logits}
        tensors |= {name: tensor for name, tensor in outputs.items() if tensor is not None}
    dtypes = {} if narrow is None else {
        name: narrow
        for name, tensor in tensors.items()
        if tensor.is_floating_point() and calls.may_narrow(name)
    }  # fmt: skip
    packed = pack(tensors, dtypes)
    about = _described(cap, with_weights) | {
        "tensors": {name: view.as_json() for name, view in packed.views.items()}
    }
    text = json.dumps(about, allow_nan=False, separators=(",", ":"))
    if len(text) > MAX_DESCRIBED:
        raise TooLarge(
            f"tokens and calls take {len(text):,} bytes and one file holds {MAX_DESCRIBED:,};"
            " save fewer texts in one capture",
            code="capture_file_too_large",
            found=len(text),
            limit=MAX_DESCRIBED,
            unit="bytes",
        )
    return Content(packed.arrays, {ENTRY: text})


def _half(dtype: Half | torch.dtype | None) -> torch.dtype | None:
    if dtype is None:
        return None
    name = str(dtype).removeprefix("torch.")
    if name not in get_args(Half):
        allowed = " or ".join(get_args(Half))
        raise BadInput(
            f"a capture file keeps numbers as they are, or as {allowed}; not as {name!r}",
            code="bad_dtype",
            asked=name,
            allowed=allowed,
        )
    half: torch.dtype = getattr(torch, name)
    return half


def _described(cap: Capture, with_weights: bool) -> dict[str, object]:
    """All of a capture that is not a tensor, as JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_with": versions(),
        "verified": verified(cap),
        "model": parts.model_json(cap.model),
        "n_generated": cap.n_generated,
        "grid": cap.grid,
        "frame_s": cap.frame_s,
        "missing": parts.missing_json(cap.missing),
        "tokens": parts.all_tokens_json(cap.tokens_by_stack),
        "calls": [
            calls.call_json(call, with_weights, list(labelled(cap, call))) for call in cap.calls
        ],
    }


def versions() -> dict[str, str]:
    """The versions that a capture was made with."""
    numbers = {"attnviz": attnviz.__version__, "torch": str(torch.__version__)}
    try:
        numbers["transformers"] = version("transformers")
    except PackageNotFoundError:  # a capture of another tool's tensors needs no transformers
        return numbers
    return numbers


def verified(cap: Capture) -> dict[str, float | None]:
    """The worst error and its tolerance; None where nothing can be compared, or it is NaN."""
    worst = cap.verify().worst
    if worst is None:
        return {"error": None, "tolerance": None}
    return {"error": _finite(worst.error), "tolerance": _finite(worst.tolerance)}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def labelled(cap: Capture, call: AttentionCall) -> tuple[bool, bool]:
    """True for queries, and for keys, whose tokens the capture names one for one."""
    rows = {0, call.n_batch - 1}
    axes = ((cap.query_tokens, call.n_query), (cap.key_tokens, call.n_key))
    try:
        query, key = (all(len(tokens_of(call, row)) == n for row in rows) for tokens_of, n in axes)
    except BadInput:  # fewer texts than rows: packed pictures, for instance
        return False, False
    return query, key
