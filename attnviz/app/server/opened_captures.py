"""Captures that visitors or the operator opened from a file, kept for all sessions.

In: the bytes of an upload, which is input from outside, or the file that the operator names in the
environment variable ATTNVIZ_CAPTURE. Out: an `AppCapture` without a model, by the digest of its
file. The digest stands in the address: whoever has the link sees the capture while this server
keeps it.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache, partial
from math import isfinite
from typing import TYPE_CHECKING

from attnviz.app.server import loading, turns
from attnviz.errors import BadInput, TooLarge
from attnviz.files.capture_file import VARIABLE, digest_of_bytes, digest_of_file
from attnviz.pictures.group.app_capture import AppCapture, Media
from attnviz.pictures.group.groups import groups
from attnviz.types import MIB, Kind, Stack

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture

MAX_BYTES = 64 * MIB  # of an upload: 128 tokens of a GPT-2 take 28 MB
MAX_KEPT_BYTES = 256 * MIB  # of all uploads together; the least recently seen goes first
# in a hostile file few numbers may stand for many heads: so many products take seconds to check
MAX_PRODUCTS = 25 * 10**9
LARGEST = 1e15  # of the numbers of a capture: sums of their products are finite as float32
USUAL_WIDTH = 64
# a head takes a while however few its tokens, and so does a call
PRODUCTS_OF_HEAD, PRODUCTS_OF_CALL = 2 * 10**6, 10**7


class OpenedCaptures:
    """The uploads that are kept, bounded by the bytes of their files."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[AppCapture, int]] = OrderedDict()
        self._seen: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def put(self, digest: str, captured: AppCapture, n_bytes: int) -> None:
        """Keep a capture, and let go of those that were not seen for longest."""
        with self._lock:
            self._kept[digest] = captured, n_bytes
            self._kept.move_to_end(digest)
            while len(self._kept) > 1 and self._n_bytes() > MAX_KEPT_BYTES:
                self._kept.popitem(last=False)

    def get(self, digest: str) -> AppCapture | None:
        """The capture of a file; None for one that is not kept any longer."""
        with self._lock:
            if digest not in self._kept:
                return None
            self._kept.move_to_end(digest)
            return self._kept[digest][0]

    @contextmanager
    def first_look(self, digest: str, page: str) -> Iterator[None]:
        """A turn of the server's line, if a kept capture was not shown on this page before."""
        if digest not in self._kept or (digest, page) in self._seen:
            yield
            return
        with turns.turn():
            yield
        with self._lock:
            self._seen = {seen for seen in self._seen if seen[0] in self._kept} | {(digest, page)}

    def clear(self) -> None:
        """Let go of all."""
        with self._lock:
            self._kept.clear()

    def _n_bytes(self) -> int:
        return sum(n_bytes for _, n_bytes in self._kept.values())


@cache
def _uploads() -> OpenedCaptures:
    return OpenedCaptures()


def opened(digest: str) -> AppCapture | None:
    """The capture of a file that was opened on this server; None for one that it does not keep."""
    path = os.environ.get(VARIABLE, "")
    if path and digest_of_file(path) == digest:
        return _of_operator(digest, path)
    return _uploads().get(digest)


def first_look(digest: str, page: str) -> AbstractContextManager[None]:
    """A block that shows a capture: in the server's line where all is computed for the first time.

    The operator's own file waits in no line.
    """
    return _uploads().first_look(digest, page)


def open_upload(data: bytes, file_name: str) -> str:
    """Check and keep an uploaded capture, in the server's line; returns the digest of its file.

    Raises `TooLarge` for a file over 64 MiB or with more to compute than a visitor would wait for,
    and `BadInput` that names the file for one that is not a capture.
    """
    with loading.importing:
        from attnviz.files.capture_file.read import read
    digest = digest_of_bytes(data)
    if _uploads().get(digest) is not None:
        return digest
    try:
        capture = read(data, max_bytes=MAX_BYTES)
    except BadInput as error:
        raise BadInput(
            str(error), code=error.code, **{**error.details, "path": file_name}
        ) from error
    _require_products(capture)
    with turns.turn():
        captured = _captured(digest, capture)
        _require_finite(captured, file_name)
    _uploads().put(digest, captured, len(data))
    return digest


@lru_cache(maxsize=1)
def _of_operator(digest: str, path: str) -> AppCapture:
    """The operator's file, of any size; its numbers stay in the file until they are read."""
    with loading.importing:
        from attnviz.files.capture_file.read import read
    return _captured(digest, read(path))


def _captured(digest: str, capture: "Capture") -> AppCapture:
    return AppCapture(
        key=f"file {digest}",
        name=capture.model.id,
        loaded=None,
        capture=capture,
        groups=groups(capture),
        media=Media(),
        recall=partial(opened, digest),
        check=turns.check,
    )


def _require_finite(captured: AppCapture, file_name: str) -> None:
    """Refuse a capture with NaN, infinity or what becomes so: no picture shows it, no check."""
    calls = captured.capture.calls
    are_compared = any("out" in call.projections or call.inputs.value is not None for call in calls)
    is_finite = all(map(_is_finite, calls))
    if not is_finite or (are_compared and not isfinite(captured.accuracy.error)):
        raise BadInput(
            f"{file_name} has numbers that are NaN or infinite, or become so: save a capture of"
            " finite numbers",
            code="capture_not_finite",
            path=file_name,
        )


def _is_finite(call: "AttentionCall") -> bool:
    """True if scores are numbers, before the mask and after it; a bias may block cells by −inf."""
    from attnviz.attention.tolerance import largest

    inputs = call.inputs
    bias, scaling = getattr(inputs, "bias", None), getattr(inputs, "scaling", None) or 1.0
    tensors = [tensor for tensor in (*inputs.tensors(), call.output) if tensor is not bias]
    if bias is not None:
        tensors.append(bias.clamp(min=0))
    for layer in call.projections.values():
        parts = (layer.weight, layer.bias, layer.input, layer.output)
        tensors += [part for part in parts if part is not None]
    sizes = (largest(tensor.float()) for tensor in tensors if tensor.is_floating_point())
    return all(size * max(1.0, abs(scaling)) < LARGEST for size in sizes)  # false for NaN


def _products(call: "AttentionCall", n_kept: int) -> int:
    """The products that the weights of a call take; those of heads that were not kept are 0."""
    n_cell = call.n_query * call.n_key
    query = call.inputs.query
    widths = (call.output.shape[-1], 0 if query is None else query.shape[-1])
    width = max(USUAL_WIDTH, *widths)  # a narrow head counts as a usual one
    of_heads = call.n_heads * (PRODUCTS_OF_HEAD + n_cell) + n_kept * n_cell * width
    return PRODUCTS_OF_CALL + call.n_batch * of_heads


def _require_products(capture: "Capture") -> None:
    """Refuse a capture whose weights would take minutes to compute.

    Layers that were not kept have their places in the pictures, and count too.
    """
    products = sum(_products(call, len(call.kept_heads)) for call in capture.calls)
    alike: dict[tuple[Kind, Stack | None], list[AttentionCall]] = {}
    for call in capture.calls:
        alike.setdefault((call.kind, call.stack), []).append(call)
    for (kind, stack), calls in alike.items():
        n_left_out = capture.n_layers_of(kind, stack) - len({call.layer for call in calls})
        products += n_left_out * max(_products(call, 0) for call in calls)
    if products > MAX_PRODUCTS:
        raise TooLarge(
            f"showing this capture takes {products:,} multiplications and the limit is"
            f" {MAX_PRODUCTS:,}; capture fewer tokens, or open it with attnviz app --capture",
            code="capture_too_long",
            found=products // 10**9,
            limit=MAX_PRODUCTS // 10**9,
            unit="billion multiplications",
        )
