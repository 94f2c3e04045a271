"""A page that is one file, with a model that runs in it: it opens from a disk and sends by mail.

In: a capture, or a `LiveModel`. Out: HTML that asks for nothing at all. Weights, kernels, worker
and canvases are parts of the page, compressed; models of more than a few megabytes are refused.
"""

from typing import TYPE_CHECKING

from attnviz.errors import TooLarge, bad_argument
from attnviz.i18n import DEFAULT, Language
from attnviz.live.document import KERNELS, SitePlace, index, single_page
from attnviz.live.model import LiveModel, live_model
from attnviz.models.registry import REGISTRY

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.models.loaded_model import LoadedModel

MAX_BYTES = 16_000_000


def live_page(
    cap: "Capture", lang: Language = DEFAULT, model: "LoadedModel | None" = None
) -> bytes:
    """A page that opens with a capture's text, and in which the reader can type.

    `model` is needed where attnviz does not know the capture's model by name. Raises what
    `live_model` and `one_file` raise.
    """
    if model is None and cap.model.id not in REGISTRY:
        raise bad_argument(
            f"live= needs the model itself, and {cap.model.id} is known by no name; pass"
            " model=attnviz.load(its folder)",
            name="live",
            found=cap.model.id,
            allowed=", ".join(REGISTRY),
        )
    if model is not None and model.name != cap.model.id:
        raise bad_argument(
            f"model= is {model.name}, and the capture is of {cap.model.id}; pass the model that"
            " the capture was made with",
            name="model",
            found=model.name,
            allowed=cap.model.id,
        )
    source = cap.model.id if model is None else model
    page = one_file(live_model(source, cap.tokens.text or None, (lang,)), lang)
    return page.encode(errors="replace")  # a lone surrogate has no UTF-8 form


def one_file(model: LiveModel, lang: Language) -> str:
    """The page; raises `TooLarge` for a model whose files do not fit into one."""
    size = sum(map(len, model.files.values()))
    if size > MAX_BYTES:
        raise TooLarge(
            f"{model.name} has {size:,} bytes of files and a page holds {MAX_BYTES:,} of them;"
            " write a site with `attnviz live FOLDER --model`",
            code="live_file_too_large",
            found=size,
            limit=MAX_BYTES,
            unit="bytes",
        )
    place = SitePlace(root=None)
    files = {**model.files, place.kernels: KERNELS.read_bytes()}
    return single_page(index({"": model}, lang, place), files)
