"""A page that is one file, with a model that runs in it: it opens from a disk and sends by mail.

In: a `LiveModel`. Out: HTML that asks for nothing at all. Weights, kernels, worker and canvases are
parts of the page, compressed; models of more than a few megabytes are refused.
"""

from attnviz.errors import TooLarge
from attnviz.i18n import Language
from attnviz.live.document import KERNELS, Place, index, single_page
from attnviz.live.model import LiveModel

MAX_BYTES = 16_000_000


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
    place = Place(root=None)
    files = {**model.files, place.kernels: KERNELS.read_bytes()}
    return single_page(index({"": model}, lang, place), files)
