"""A model as files that a reader's browser runs: its own ones, and what Python prepares for it.

In: a model's name or folder, or a model in memory. Out: a `LiveModel`. Weights stay as they are;
those of a larger encoder are written in two planes. An architecture that the engine has no forward
pass for is refused by name.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image

import attnviz
from attnviz.checks import examples
from attnviz.checks.examples import OPENINGS
from attnviz.errors import BadInput, TooLarge
from attnviz.i18n import LANGUAGES, Language, text
from attnviz.live import prepared
from attnviz.live.planes import plane_files
from attnviz.models import files
from attnviz.models.loader import packaged_folder
from attnviz.models.registry import REGISTRY, EmbeddedModel, PackagedModel
from attnviz.pictures.alignment import stated
from attnviz.pictures.group.groups import groups
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.html_parts import plain_json
from attnviz.worlds import shapes

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.models.loaded_model import LoadedModel

FAMILIES = ("bert", "gpt2", "llama", "marian", "vit")  # `Family` of index.d.ts
PLANES_FROM = 16_000_000  # bytes of an encoder's weights; smaller ones come at once
MAX_PARAMETERS = 200_000_000  # as 32-bit floats they nearly fill the memory of WebAssembly
MAX_TOKENS = 256
MAX_EXAMPLES = 8
FIRST_SAMPLE = 1  # the picture that a model of pictures opens with
ADDRESSES = {"file", "high", "low", "high_shards", "low_shards"}  # of `info["weights"]`
MEANS = "means.safetensors"
OWN_FILES = {
    "config": "config.json",
    "tokenizer": "tokenizer.json",
    "generation": "generation_config.json",
    "preprocessor": "preprocessor_config.json",
}


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A model's files by their names, and `PageModel` of state.d.ts with these names as addresses.

    `info` is said in every language that `files` has texts for.
    """

    name: str
    files: dict[str, bytes]
    info: dict[str, Any]

    @property
    def digest(self) -> str:
        """A short name of what is in the files."""
        whole = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            whole.update(f"{name} {len(content)} ".encode())
            whole.update(content)
        return whole.hexdigest()[:8]

    def page_model(self, lang: Language, folder: str, kernels: str) -> dict[str, Any]:
        """`PageModel` in a language, with the addresses of files in a folder."""
        names = {**OWN_FILES, "means": MEANS}
        at: dict[str, Any] = {
            key: f"{folder}{name}" for key, name in names.items() if name in self.files
        }
        at["reference"] = f"{folder}reference.safetensors"
        at["steps"] = {lang: f"{folder}steps.{lang}.json"}
        weights = {
            key: f"{folder}{value}" if key in ADDRESSES else value
            for key, value in self.info["weights"].items()
        }
        known = {key: self.info[key] for key in ("most", "stated") if key in self.info}
        named = {"name": self.name, "titles": {lang: model_title(lang, self.name)}}
        return {
            "files": {**named, **at, **known, "kernels": kernels, "weights": weights},
            "description": (
                text(lang, f"model.{self.name}.description") if self.name in REGISTRY else ""
            ),
            "kind": self.info["kind"],
            "examples": self.info["examples"],
            "opening": self.info["opening"],
            "bytes": sum(map(len, self.files.values())),
        }


def live_model(
    source: "str | Path | LoadedModel",
    example: str | None = None,
    languages: Sequence[Language] = LANGUAGES,
) -> LiveModel:
    """A model with all that its page needs; `example` is the text that it opens with.

    Raises what `attnviz.load` raises, `BadInput` for an architecture or a tokenizer that the engine
    does not know, `TooLarge` for more weights than a browser holds.
    """
    lm = attnviz.load(source) if isinstance(source, (str, Path)) else source
    _require_known(lm)
    with _folder(source, lm) as folder:
        own = {
            name: (folder / name).read_bytes()
            for name in OWN_FILES.values()
            if (folder / name).is_file()
        }
        if lm.tokenizer is not None:
            own.setdefault("tokenizer.json", _tokenizer(lm))
        weights, about = _weights(lm, folder)
    texts = [*([] if example is None else [example]), *examples.texts(lm.name)]
    capture, reference = _first(lm, texts)
    made = {
        "reference.safetensors": reference,
        **{
            f"steps.{lang}.json": plain_json(prepared.step_headers(lm, lang)).encode()
            for lang in languages
        },
    }
    try:
        made[MEANS] = prepared.mean_outputs(lm)
    except BadInput:  # the model has no reference texts: heads are taken away with zero
        pass
    info = {
        "kind": lm.kind,
        "weights": about,
        "most": min(lm.max_tokens, MAX_TOKENS),
        "examples": [] if lm.kind == "vision" else list(dict.fromkeys(texts))[:MAX_EXAMPLES],
        "opening": _opening(lm.name) if example in (None, *texts[1:2]) else None,
    }
    cross = next((group for group in groups(capture) if group.kind == "cross"), None)
    if cross is not None:
        info["stated"] = asdict(stated(lm.name, cross))
    return LiveModel(lm.name, own | weights | made, info)


def first_picture() -> UInt8[np.ndarray, "row column 3"]:
    """The picture that a model of pictures opens with."""
    return shapes.sample(FIRST_SAMPLE).picture()


def _require_known(lm: "LoadedModel") -> None:
    """Raise for a model that the engine cannot run."""
    found = _family(lm)
    if found not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise BadInput(
            f"{lm.name} is of the architecture {found}, and a browser runs {known}; save a page"
            " without live=, which holds the numbers of one text",
            code="not_live",
            name=lm.name,
            found=found,
            known=known,
        )
    if lm.card.parameters > MAX_PARAMETERS:
        raise TooLarge(
            f"{lm.name} has {lm.card.parameters:,} parameters and a browser holds"
            f" {MAX_PARAMETERS:,} of them; take a smaller model",
            code="live_too_large",
            found=lm.card.parameters,
            limit=MAX_PARAMETERS,
            unit="parameters",
        )


def _family(lm: "LoadedModel") -> str:
    """The architecture as the model's configuration names it."""
    return str(getattr(getattr(lm.model, "config", None), "model_type", lm.kind))


@contextmanager
def _folder(source: "str | Path | LoadedModel", lm: "LoadedModel") -> Iterator[Path]:
    """The folder with a model's files; of one that has none, they are written from memory."""
    entry = REGISTRY.get(lm.name)
    if isinstance(entry, EmbeddedModel):
        yield entry.folder
    elif isinstance(entry, PackagedModel) and (folder := packaged_folder(entry)) is not None:
        yield folder
    elif isinstance(source, (str, Path)) and files.is_folder(source):
        yield Path(source)
    else:
        with tempfile.TemporaryDirectory() as place, lm.lock:
            parts: tuple[Any, ...] = (lm.model, lm.tokenizer, lm.processor)
            for part in parts:
                if part is not None:
                    part.save_pretrained(place)
            yield Path(place)


def _tokenizer(lm: "LoadedModel") -> bytes:
    """The tokenizer as one file, of a model whose folder has only its parts."""
    backend = getattr(lm.tokenizer, "backend_tokenizer", None)
    if backend is None:
        found = type(lm.tokenizer).__name__
        raise BadInput(
            f"the tokenizer of {lm.name}, {found}, has no form as tokenizer.json, which a browser"
            " reads; save it with a fast tokenizer",
            code="no_fast_tokenizer",
            name=lm.name,
            found=found,
        )
    return str(backend.to_str()).encode()


def _weights(lm: "LoadedModel", folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of the weights, and what the worker is told of them."""
    paths = files.weight_files(folder)
    size = sum(path.stat().st_size for path in paths)
    if _family(lm) == "bert" and size >= PLANES_FROM:
        return plane_files(_tensors(paths))
    plain = {"form": "plain", "file": files.WEIGHTS}
    if len(paths) == 1:
        return {files.WEIGHTS: paths[0].read_bytes()}, plain
    from safetensors.torch import load_file, save

    whole = {name: tensor for path in paths for name, tensor in load_file(path).items()}
    return {files.WEIGHTS: save(whole)}, plain


def _tensors(paths: Sequence[Path]) -> dict[str, np.ndarray]:
    """The floating-point tensors of an encoder but for its pooler, which nothing here reads."""
    from safetensors.torch import load_file

    return {
        name: tensor.float().numpy()
        for path in paths
        for name, tensor in load_file(path).items()
        if tensor.is_floating_point() and not name.startswith("pooler.")
    }


def _first(lm: "LoadedModel", texts: Sequence[str]) -> "tuple[Capture, bytes]":
    """The capture of what the model opens with, and the reference that travels along."""
    if lm.kind == "vision":
        from attnviz.capture.plan.images import pixel_inputs

        image = Image.fromarray(first_picture())
        pixels = pixel_inputs(lm, [image])["pixel_values"][0].float().cpu().numpy()
        capture = attnviz.capture(lm, image=image)
        return capture, prepared.reference(capture, "", pixels)
    target = None
    if lm.kind == "encoder-decoder":
        from attnviz.experiment.outputs.answer import answer

        target = answer(lm, texts[0])
    capture = attnviz.capture(lm, texts[0], target=target, cut=True)
    return capture, prepared.reference(capture, texts[0])


def _opening(name: str) -> dict[str, Any] | None:
    """The cell that an embedded model's first example is opened at."""
    opening = OPENINGS.get(name)
    if opening is None:
        return None
    kind = opening.kind or "self"
    return {
        "group": f"{opening.stack}_{kind}" if opening.stack else kind,
        "layer": opening.head.layer,
        "head": opening.head.head,
        "query": opening.query,
        "key": opening.key,
    }
