"""Everything the app keeps between runs and shares between sessions, bounded, under full keys.

In: names and texts. Out: loaded models, captures with what is derived from all their heads, and the
byte buffers that components show. A key names all that determines the value: model id, revision,
dtype, device, texts, whether they were cut, and for a buffer the page, language, layer and head.
Resources are shared, not copied: whoever gets one reads it only.

torch and transformers are imported here, by the first session that needs a model, one thread at a
time (two threads importing transformers at once break it), after the page has painted its frame.
"""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import UInt8

import attnviz
from attnviz.ui.groups import Group, groups
from attnviz.ui.sources import Source

if TYPE_CHECKING:
    from PIL.Image import Image

    from attnviz.call import Capture
    from attnviz.metrics import HeadRole
    from attnviz.models.loaded import LoadedModel

MAX_MODELS = 2
MAX_CAPTURES = 24  # the largest, 512 tokens of minilm, keeps about 30 MB
MAX_BUFFERS = 12  # the largest, all heads for 512 tokens, has 19 MB

# one forward pass at a time per core serves many sessions better than one pass on all cores:
# with two threads, 50 users saw a 95th percentile of 981 ms instead of 214 ms
TORCH_THREADS = 1

_loading = threading.Lock()


@dataclass(frozen=True, eq=False)
class Captured:
    """A capture and what every page says about it. `key` names all that determined it.

    `asked` is how many tokens the model was to write, `picture` what a vision model saw.
    """

    key: str
    name: str
    model: "LoadedModel"
    capture: "Capture"
    error: float
    tolerance: float
    groups: tuple[Group, ...]
    asked: int = 0
    picture: UInt8[np.ndarray, "row column rgb"] | None = None

    @property
    def verified(self) -> bool:
        """Whether our numbers agree with the model's; NaN never does."""
        return self.error <= self.tolerance


def model(source: Source) -> "LoadedModel":
    """The loaded model; the first call takes seconds. The least recently used one goes."""
    return _model(source.name, source.stamp)


def _forget_captures(_: object) -> None:
    """Captures point into the weights of their model: they go with it, or it would stay."""
    _captured.clear()


@st.cache_resource(max_entries=MAX_MODELS, show_spinner=False, on_release=_forget_captures)
def _model(name: str, stamp: str) -> "LoadedModel":
    with _loading, _frozen_heap():
        import torch

        torch.set_num_threads(TORCH_THREADS)
        return attnviz.load(name)


@contextmanager
def _frozen_heap() -> Iterator[None]:
    """Keep the garbage collector off what the block makes: it stays for good.

    A full collection walks every object of torch and transformers, 0.2 s of a stalled server
    after each; frozen objects are not walked. While modules are imported, collections find nothing
    and cost a fifth of the time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    gc.unfreeze()  # a model that has gone since would stay for good with the rest
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class Request:
    """What a model is to read, and to write: its repr names all of it.

    The model writes one token more than `generate`: its last one is never read, so that it has no
    row and no column.
    """

    texts: tuple[str, ...] = ()
    cut: bool = False
    target: str = ""
    generate: int = 0
    picture: str = ""


def captured(source: Source, request: Request, image: "Image | None" = None) -> Captured:
    """The texts as one batch, or a picture, run through the model and verified.

    `request.picture` is the digest of `image`.
    """
    loaded = model(source)
    return _captured(f"{source} {loaded.key} {request}", source.name, request, image, loaded)


@st.cache_resource(max_entries=MAX_CAPTURES, show_spinner=False)
def _captured(
    key: str, _name: str, _request: Request, _image: "Image | None", _loaded: "LoadedModel"
) -> Captured:
    if _image is not None:
        from attnviz.capture.images import seen

        capture, picture = attnviz.capture(_loaded, image=_image), seen(_loaded, _image)
    else:
        picture = None
        capture = attnviz.capture(
            _loaded,
            _request.texts,
            target=[_request.target] * len(_request.texts) if _request.target else None,
            generate=_request.generate + 1 if _request.generate else 0,
            cut=_request.cut,
        )
    errors = capture.verify()
    tolerance = errors.pop("tolerance")
    return Captured(
        key=key,
        name=_name,
        model=_loaded,
        capture=capture,
        # max() would lose a NaN that is not the first
        error=max(errors.values(), key=lambda error: (error != error, error)),
        tolerance=tolerance,
        groups=groups(capture),
        asked=_request.generate,
        picture=picture,
    )


def roles(captured: Captured, group: Group) -> "tuple[tuple[HeadRole, ...], ...]":
    """What each head of a group does most on the first text."""
    return _roles(f"{captured.key} {group.name}", group)


@st.cache_resource(max_entries=MAX_CAPTURES, show_spinner=False)
def _roles(key: str, _group: Group) -> "tuple[tuple[HeadRole, ...], ...]":
    keys = _group.keys() if _group.cross else None
    return attnviz.metrics.describe(_group.all_weights(), _group.queries(), keys, _group.visible())


def buffer(key: str, build: Callable[[], bytes]) -> bytes:
    """The bytes that `build` makes; `key` names everything that determines them."""
    return _buffer(key, build)


@st.cache_resource(max_entries=MAX_BUFFERS, show_spinner=False)
def _buffer(key: str, _build: Callable[[], bytes]) -> bytes:
    return _build()
