"""A site on which models run, or a page that is one file: written from Python alone.

In: a folder, models, languages. Out: a page for each language, and beside them the script, the
worker, the kernels, the style sheet and each model's files, for anything that serves files. Names
of files contain what is in them, so that a browser may keep them for good. In one file all of them
are parts of the page, compressed: it opens from a disk and sends by mail, and models of more than a
few megabytes are refused. Nothing asks for anything outside the folder or the file.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.errors import TooLarge, bad_argument, cannot_write
from attnviz.i18n import DEFAULT, LANGUAGES, Language, text
from attnviz.live.document import (
    KERNELS,
    PageLink,
    SitePlace,
    index,
    live_style,
    page_scripts,
    single_page,
    site_page,
    worker_script,
)
from attnviz.live.model import LiveModel, live_model
from attnviz.models.registry import REGISTRY
from attnviz.pictures.shared.bundle import join
from attnviz.pictures.shared.html_parts import alone, plain_json

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.models.loaded_model import LoadedModel

OFFLINE = "offline.js"
HERE = Path(__file__).parent
MAX_BYTES = 16_000_000


def write_site(
    folder: str | Path,
    models: Iterable[LiveModel],
    languages: Sequence[Language] = LANGUAGES,
    fixed: str | None = None,
) -> Path:
    """Write the site into a folder; returns its first page.

    The first model is the one that opens. `fixed` is a folder in it that has pages with fixed texts
    in the same languages. Raises `BadInput` where the folder cannot be written.
    """
    whole = _files(tuple(models), languages, fixed)
    try:
        for name, content in whole.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return Path(folder) / "index.html"


def _files(
    models: Sequence[LiveModel], languages: Sequence[Language], fixed: str | None
) -> dict[str, bytes]:
    """Every file of the site by its name."""
    script, later = page_scripts()
    code = {
        "worker": _named("worker", ".js", worker_script().encode()),
        "kernels": _named("kernels", ".wasm", KERNELS.read_bytes()),
        "script": _named("page", ".js", script.encode()),
        "later": _named("views", ".js", later.encode()),
        "style": _named("style", ".css", live_style().encode()),
    }
    names = {part: name for part, (name, _) in code.items()}
    folders = {f"models/{model.name}.{model.digest}/": model for model in models}
    pages = {
        f"{_folder(lang)}index.html": _page(lang, folders, names, languages, fixed)
        for lang in languages
    }
    kept = {**pages, **dict(code.values())}
    weights = {
        f"{folder}{name}": content
        for folder, model in folders.items()
        for name, content in model.files.items()
    }
    return {**kept, OFFLINE: _offline(kept), **weights}


def _named(stem: str, ending: str, content: bytes) -> tuple[str, bytes]:
    """A file whose name contains what is in it."""
    return f"code/{stem}.{hashlib.sha256(content).hexdigest()[:8]}{ending}", content


def _folder(lang: Language) -> str:
    """The folder of a language's page; English stands in the site's own."""
    return "" if lang == DEFAULT else f"{lang}/"


def _page(
    lang: Language,
    folders: Mapping[str, LiveModel],
    names: Mapping[str, str],
    languages: Sequence[Language],
    fixed: str | None,
) -> bytes:
    root = "" if lang == DEFAULT else "../"
    place = SitePlace(root or "./", names["worker"], names["kernels"], OFFLINE, names["later"])
    others = [
        PageLink(text(other, "language.name"), f"{root}{_folder(other)}index.html", other)
        for other in languages
        if other != lang
    ]
    links = (
        []
        if fixed is None
        else [PageLink(text(lang, "live.fixed"), f"{root}{_folder(lang)}{fixed}")]
    )
    told = index(folders, lang, place)
    page = site_page(told, root + names["script"], root + names["style"], others, links)
    return page.encode(errors="replace")  # a lone surrogate has no UTF-8 form


def _offline(kept: Mapping[str, bytes]) -> bytes:
    """The service worker, which keeps the pages and what they are made of."""
    version = hashlib.sha256(b"".join(kept[name] for name in sorted(kept))).hexdigest()[:8]
    pages = {name: "./" + name.removesuffix("index.html") for name in kept}
    bundle = join({"offline": HERE / "offline.js"})
    start = f"{bundle.entries['offline']}.default(self, {plain_json(version)}, "
    return alone(f"{bundle.script}{start}{plain_json(list(pages.values()))});\n").encode()


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
