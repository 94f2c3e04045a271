"""The files that Python writes for the worker beside a model's weights.

In: a loaded model, a language. Out, in the forms of `index.d.ts`: the texts that the worker prints,
the headers of Steps, the mean outputs of each head over the reference corpus, and one forward pass
of torch, with which a page compares its own numbers.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import save

import attnviz
from attnviz.i18n import Language, catalogue
from attnviz.pictures import steps
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import Group
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed, texts
from attnviz.pictures.steps import fill

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.models.loaded_model import LoadedModel

CANVASES = (
    "stage",
    "grid",
    "head",
    "patches",
    "steps",
    "masks",
    "switches",
    "bars",
    "writing",
    "alignment",
)
# sections of the catalogue whose texts the worker prints
SECTIONS = ("attention", "classes", "joint", "mask", "measure", "role", "sampling", "switchboard")
SHORT = "a b"  # any text: only what is written around its numbers is kept


def worker_texts(lang: Language) -> dict[str, object]:
    """The `Texts` of a language: those of the canvases, and the sentences that the worker fills."""
    starts = tuple(f"{section}." for section in SECTIONS)
    sentences = {key: text for key, text in catalogue(lang).items() if key.startswith(starts)}
    strings = {name: dict(texts(name, lang)) for name in CANVASES}
    return {"language": lang, "strings": strings, "catalogue": sentences}


def step_headers(lm: "LoadedModel", lang: Language) -> dict[str, dict[str, Any]]:
    """The `StepsTemplate` of a model: for each of its attentions the header of Steps.

    Its tokens, its place, the shapes and the errors of its panels are filled in by the worker.
    """
    captured = AppCapture.alone(_short_capture(lm), lm)
    return {group.name: _header(captured, group, lang) for group in captured.groups}


def _header(captured: AppCapture, group: Group, lang: Language) -> dict[str, Any]:
    shown = PageContext(lang, captured, group)
    data = fill.steps(shown, 0, 0, attnviz.derive(group.call(0), 0, group.row(0)))
    as_read = replace(data, by_hand=steps.HandEdits(allowed=False), reach=None)
    header, _ = unpack(packed(steps.CANVAS, as_read, lang))
    return header


def _short_capture(lm: "LoadedModel") -> "Capture":
    """A capture of any short input."""
    if lm.kind == "vision":
        return attnviz.capture(lm, image=np.zeros((8, 8, 3), np.uint8))
    if lm.kind == "encoder-decoder":
        return attnviz.capture(lm, SHORT, target=SHORT)
    return attnviz.capture(lm, SHORT)


def mean_outputs(lm: "LoadedModel") -> bytes:
    """The means of `mixed` over the reference corpus, a tensor [layer, head, d_head] a group."""
    from attnviz.capture.changed.corpus import recorded

    with lm.lock:
        corpus = recorded(lm)
    by_group: dict[str, dict[int, np.ndarray]] = {}
    for site, vectors in corpus.by_layer.items():
        name = f"{site.stack}_{site.kind}" if site.stack else site.kind
        by_group.setdefault(name, {})[site.layer] = vectors.mean.float().cpu().numpy()
    means = {
        name: np.stack([layers[layer] for layer in sorted(layers)])
        for name, layers in by_group.items()
    }
    return save(means)


def reference(capture: "Capture", text: str, pixels: np.ndarray | None = None) -> bytes:
    """A pass that torch made, to compare with: what was read, all weights, and the output.

    `pixels` are the numbers that a picture model read, [colour, row, column].
    """
    import torch

    tensors: dict[str, np.ndarray] = {
        group.name: groups.stacked(group) for group in groups.groups(capture)
    }
    tensors |= _read(capture, pixels)
    output = capture.hidden if capture.logits is None else capture.logits
    assert output is not None, "a capture keeps what its model gave"
    tensors["output"] = output[0].float().cpu().numpy()
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return save(whole, metadata={"text": text, "torch": str(torch.__version__)})


def _read(capture: "Capture", pixels: np.ndarray | None) -> Mapping[str, np.ndarray]:
    """The ids of the tokens by the names of the reference, or the numbers of the picture."""
    if pixels is not None:
        return {"pixels": pixels.astype(np.float32)}
    names = {"decoder": "target"} if "encoder" in capture.tokens_by_stack else {}
    return {
        names.get(stack or "", "ids"): tokens.ids.astype(np.int32)
        for stack, (tokens, *_) in capture.tokens_by_stack.items()
    }
