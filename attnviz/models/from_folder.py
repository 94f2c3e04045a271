"""A `LoadedModel` from a model's files, or from a module that is in memory already.

In: a folder that was checked before, or a module; no network is used. Out: model, tokenizer,
processor, card and key. Any error that a damaged or unknown model raises in transformers becomes a
`ModelNotFound`.
"""

import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoFeatureExtractor,
    AutoImageProcessor,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import (
    disable_progress_bar,
    enable_progress_bar,
    is_progress_bar_enabled,
)

from attnviz.errors import AttnVizError, BadInput, ModelNotFound
from attnviz.models import architecture, chat_template, files, weights
from attnviz.models.admission.sealed_copy import seal
from attnviz.models.files import first_line, is_panic
from attnviz.models.loaded_model import LoadedModel, Processor
from attnviz.models.seeded_models import seeded
from attnviz.types import MIB, ModelCard, ModelKey, ModelKind

# a path of this machine in another library's words
PATH = re.compile(r"(?<![\w./:])(?:[A-Za-z]:)?[/\\][^\s'\"`,;:()]+")
MAX_REASON_CHARS = 300
OFFLINE = {"local_files_only": True, "trust_remote_code": False}
PROCESSOR_CLASSES: dict[ModelKind, Any] = {
    "vision": AutoImageProcessor,
    "text-image": AutoImageProcessor,
    "speech": AutoFeatureExtractor,
}


@dataclass(frozen=True)
class Spread:
    """Where the parts of a model go that is not put on one device, in accelerate's words.

    `device_map` has a device, "cpu" or "disk" for each part, or is "auto"; `max_memory` what each
    may hold; what goes to the disk and is not in safetensors already is kept in `offload_folder`.
    """

    device_map: Literal["auto"] | Mapping[str, int | str]
    max_memory: Mapping[int | str, int | str] | None = None
    offload_folder: Path | None = None

    def options(self) -> dict[str, object]:
        """The arguments of `from_pretrained`."""
        places = self.device_map
        return {
            "device_map": places if isinstance(places, str) else dict(places),
            "max_memory": None if self.max_memory is None else dict(self.max_memory),
            "offload_folder": None if self.offload_folder is None else str(self.offload_folder),
        }


@dataclass(frozen=True)
class Settings:
    """Where and how a model is loaded.

    `within` are the directories that its files may really lie in; None allows any. `rehearse` is
    called with the checked copy of the folder and the model's name before anything else reads it.
    With `spread` the model's parts go to several places, with `tensor_parallel` to the processes
    that torchrun started.
    """

    device: str
    dtype: torch.dtype
    within: tuple[Path, ...] | None = None
    rehearse: Callable[[Path, str], None] | None = None
    spread: Spread | None = None
    tensor_parallel: bool = False

    def options(self) -> dict[str, object]:
        """The arguments of `from_pretrained` that say where the parts go."""
        if self.tensor_parallel:
            return {"tp_plan": "auto"}
        return {} if self.spread is None else self.spread.options()


def read(
    folder: Path,
    name: str,
    revision: str | None,
    settings: Settings,
) -> LoadedModel:
    """The model in a folder; `revision` is the hub's commit of its files.

    Raises `ModelNotFound` for files that are not allowed, damaged or incomplete, and `TooLarge` for
    a model over the limit.
    """
    with ExitStack() as stack:
        with _no_progress_bar(), _as_cannot_load(name, folder):
            sealed = stack.enter_context(seal(folder, settings.within))
            if settings.rehearse is not None:
                settings.rehearse(sealed.folder, name)
            loaded = _read(sealed.folder, name, revision, settings)
        if settings.spread is not None:  # what lies on the disk is read from there at each run
            weakref.finalize(loaded.model, stack.pop_all().close)
    for part in (loaded.model, loaded.model.config, loaded.tokenizer):
        if part is not None:
            part.name_or_path = str(folder)  # type: ignore[union-attr]
    return loaded


def _read(folder: Path, name: str, revision: str | None, settings: Settings) -> LoadedModel:
    config, model = _model(folder, name, settings)
    kind, device = architecture.kind_of(config), settings.device
    if settings.spread is None and not settings.tensor_parallel:
        model.to(device)  # type: ignore[arg-type]
    else:
        device = _device_of_inputs(model, next(model.parameters()))
    loaded = LoadedModel(
        card=_card(name, kind, model, revision),
        key=ModelKey(name, revision or "main", _name(settings.dtype), device),
        model=model.eval(),  # type: ignore[no-untyped-call]
    )
    _add_parts(loaded, tokenizer_in(folder), processor_in(folder, kind))
    return loaded


def _model(folder: Path, name: str, settings: Settings) -> tuple[PreTrainedConfig, PreTrainedModel]:
    config = AutoConfig.from_pretrained(folder, **OFFLINE)
    shell, parts = weights.on_meta(config), files.weight_files(folder)
    if settings.spread is None and not settings.tensor_parallel:
        weights.require_memory(shell, name, settings.dtype)
    weights.require_stored(shell, name, parts)
    with seeded(0):  # some classes draw before they read: from nobody else's random numbers
        model, report = architecture.class_for(config).from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            dtype=settings.dtype,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **settings.options(),
        )
    weights.require_complete(model, report, name)
    _require_finite(model, name)
    return config, model


@contextmanager
def _as_cannot_load(name: str, folder: Path) -> Iterator[None]:
    """Turn what a library raises about a model into `ModelNotFound`, without paths of this machine.

    An abort in a tokenizer's own language is no `Exception`; it is one here.
    """
    try:
        yield
    except AttnVizError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        reason = PATH.sub("…", first_line(error).replace(str(folder), name))
        raise cannot_load(name, reason[:MAX_REASON_CHARS]) from error


def cannot_load(name: str, reason: str) -> ModelNotFound:
    """The error for a model whose files cannot be read."""
    return ModelNotFound(
        f"{name} cannot be loaded: {reason}", code="cannot_load", asked=name, reason=reason
    )


def wrap(module: nn.Module) -> LoadedModel:
    """A module that is in memory already, as it is.

    For the result of torch.compile that is the module inside: compiled code does not ask for the
    attention function that is recorded.
    """
    original = getattr(module, "_orig_mod", None)
    module = original if isinstance(original, nn.Module) else module
    parameter = next(module.parameters(), None)
    dtype = torch.float32 if parameter is None else parameter.dtype
    device = "cpu" if parameter is None else _device_of_inputs(module, parameter)
    config = getattr(module, "config", None)
    kind: ModelKind = "module"
    if isinstance(config, PreTrainedConfig):
        kind = architecture.kind_of(config)
    name = type(module).__name__
    key = ModelKey(f"{name}@{id(module):x}", "live", _name(dtype), device)
    return LoadedModel(_card(name, kind, module, None), key, module)


def _device_of_inputs(module: nn.Module, parameter: Tensor) -> str:
    """The device that a module takes its inputs on.

    accelerate keeps the parameters of an offloaded model on "meta" between their runs, and says in
    a hook on the module where it computes.
    """
    hook = getattr(module, "_hf_hook", None)
    for part in (hook, *getattr(hook, "hooks", ())):
        place = getattr(part, "execution_device", None)
        if place is not None:
            return str(torch.device(place))
    if not parameter.is_meta:
        return str(parameter.device)
    return next((str(p.device) for p in module.parameters() if not p.is_meta), "cpu")


def add_parts(
    loaded: LoadedModel,
    tokenizer: PreTrainedTokenizerBase | None,
    processor: Processor | None,
) -> None:
    """Put a tokenizer, an image processor or a feature extractor in the place of the model's own.

    `processor` may be one of transformers' processors that hold a tokenizer too. Raises `BadInput`
    for anything else.
    """
    if tokenizer is None:
        tokenizer = getattr(processor, "tokenizer", None)
    for name in ("image_processor", "feature_extractor"):
        processor = getattr(processor, name, None) or processor
    if tokenizer is not None and not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise _not_a_part("tokenizer", tokenizer, "a transformers tokenizer")
    if processor is not None and not callable(processor):
        raise _not_a_part("processor", processor, "an image processor or a feature extractor")
    _add_parts(loaded, tokenizer or loaded.tokenizer, processor or loaded.processor)


def _add_parts(
    loaded: LoadedModel, tokenizer: PreTrainedTokenizerBase | None, processor: Processor | None
) -> None:
    """Set both, and what they allow the model to do on its card."""
    model, kind = loaded.model, loaded.kind
    with_pictures = kind == "text-image" and architecture.generates_from_pictures(model)
    has_template = chat_template.of_tokenizer(tokenizer) is not None
    transcribes = kind == "speech" and architecture.has_decoder(model)
    loaded.tokenizer, loaded.processor = tokenizer, processor
    loaded.card = replace(
        loaded.card,
        transcribes=transcribes and tokenizer is not None,
        takes_messages=(kind == "decoder" or with_pictures) and has_template,
        writes_of_pictures=with_pictures,
    )


def _not_a_part(name: str, value: object, wanted: str) -> BadInput:
    return BadInput(
        f"{name} is {type(value).__name__}; give {wanted}, as from_pretrained() returns it",
        code="not_a_part",
        name=name,
        found=type(value).__name__,
    )


def _card(name: str, kind: ModelKind, model: nn.Module, revision: str | None) -> ModelCard:
    config = getattr(model, "config", None)
    layers, heads = architecture.size_of(config) if isinstance(config, PreTrainedConfig) else (0, 0)
    n_bytes = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    return ModelCard(
        name=name,
        kind=kind,
        layers=layers,
        heads=heads,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        size_mib=round(n_bytes / MIB, 1),
        licence="",
        description=type(model).__name__,
        revision=revision or "main",
        hub_id=name,
    )


def tokenizer_in(folder: Path) -> PreTrainedTokenizerBase | None:
    """The tokenizer in a folder; None if there is none, as for a vision transformer."""
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, **OFFLINE)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # an unknown token that is not in the vocabulary raises here, not at each text
    len(tokenizer.all_special_ids)
    return tokenizer


def processor_in(folder: Path, kind: ModelKind) -> Processor | None:
    """The image processor or feature extractor in a folder; None if there is none."""
    cls = PROCESSOR_CLASSES.get(kind)
    if cls is None:
        return None
    try:
        processor: Processor = cls.from_pretrained(folder, **OFFLINE)
    except (OSError, ValueError, KeyError):
        return None
    return processor


def _require_finite(model: PreTrainedModel, name: str) -> None:
    bad = [
        key
        for key, tensor in model.named_parameters()
        if not tensor.is_meta  # on the disk
        and tensor.is_floating_point()
        and not bool(torch.isfinite(tensor).all())
    ]
    if bad:
        raise ModelNotFound(
            f"the weights of {name} are not all numbers: NaN or infinity in {weights.listed(bad)};"
            " the file is damaged, or training diverged",
            code="nan_weights",
            asked=name,
            tensor=bad[0],
        )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep transformers' progress bar off a server's terminal; put back afterwards."""
    was_enabled = is_progress_bar_enabled()
    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if was_enabled:
            enable_progress_bar()  # type: ignore[no-untyped-call]
