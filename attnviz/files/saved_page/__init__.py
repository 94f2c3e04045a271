"""One HTML file with the app's own canvases, which needs neither a server nor a network.

In: a capture, from a model, a file or another tool. Out: a page with Overview, Head, Steps and
Masks, a picture's patches and a translation's alignment where the caller gives what they need. The
numbers are those that the app sends to a browser; each travels once.
"""

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np

import attnviz
from attnviz.attention.capture import Capture
from attnviz.checks.examples import languages
from attnviz.errors import require_one_of
from attnviz.files.saved_page.arrays import Store
from attnviz.files.saved_page.document import Page, document
from attnviz.files.saved_page.first_view import PageOpening
from attnviz.files.saved_page.views import (
    PagePart,
    PageSource,
    chosen_heads,
    parts,
    require_heads,
)
from attnviz.i18n import LANGUAGES, Language, catalogue, text
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.buffer import Sent
from attnviz.summary import MAX_SHOWN, shortened
from attnviz.types import Head, head_id

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

Heads = Sequence[Head] | Literal["all"]
LABEL_TOKENS = 40  # tokens that stand for a text that the capture does not know
FIRST = ("overview", "head", "picture", "alignment")  # what is unpacked before the first paint
PACKAGES = ("torch", "transformers")
TEXTS = ("views", "groups", "no_steps")
PAGES = ("overview", "head", "steps", "masks")  # views that are pages of the app
FROM_THE_TOP = PageOpening()


class PageChoices(TypedDict, total=False):
    """The choices for a page.

    `heads` have Steps and Masks in it: names such as "L5.H11", or "all"; by default the first
    that was kept. `lang` is "en", "ja", "ko" or "zh"; `title` is the text by default. With `model`,
    words are joined as its tokenizer joins them, and a translation shows its alignment; with
    `picture`, the uint8 [row, column, rgb] that the model saw, patches lie over it.
    """

    lang: Language
    heads: Heads | None
    title: str | None
    model: "LoadedModel | None"
    picture: np.ndarray | None


def page_bytes(
    cap: Capture, *, opening: PageOpening = FROM_THE_TOP, **choices: Unpack[PageChoices]
) -> bytes:
    """The page of a capture as UTF-8.

    `opening` says on which view and head it opens. Of texts with more than 48 tokens X, concat and
    projected stay out. Raises `BadInput` for a language, a head or a view that does not exist,
    `TooLarge` for more numbers than a browser can hold.
    """
    source = PageSource(cap, choices.get("model"), choices.get("picture"))
    return page_text(source.captured(), choices, opening).encode()


def page_text(
    captured: AppCapture, choices: PageChoices, opening: PageOpening = FROM_THE_TOP
) -> str:
    """The page of a capture as text; `opening` says on which view and head it opens.

    Raises what `page_bytes` raises, and `BadInput` for a view that the page does not have.
    """
    lang = choices.get("lang", "en")
    require_one_of("lang", lang, LANGUAGES)
    written = _document(captured, lang, choices, opening)
    return written.encode(errors="replace").decode()  # a lone surrogate has no UTF-8 form


def _document(
    captured: AppCapture, lang: Language, choices: PageChoices, opening: PageOpening
) -> str:
    heads = choices.get("heads")
    named = None if heads is None or heads == "all" else tuple(head_id(head) for head in heads)
    named = opening.heads(named)
    require_heads(captured.groups, named)
    model, store = model_title(lang, captured.name), Store()
    entries = []
    for group in captured.groups:
        chosen = group.heads if heads == "all" else chosen_heads(group, named)
        views_of_group = _views(store, parts(PageContext(lang, captured, group), chosen))
        entries.append({"name": text(lang, f"attention.{group.name}"), "views": views_of_group})
    views = {view for entry in entries for view in entry["views"]}
    if opening.view == "alignment" and "alignment" not in views:
        captured.capture.require_all_heads()
    index = {
        "titles": {view: text(lang, f"page.{view}.title") for view in PAGES}
        | {view: text(lang, f"file.{view}") for view in ("picture", "alignment")},
        "texts": {name: catalogue(lang)[f"file.{name}"] for name in TEXTS},
        "groups": entries,
        "strings": store.texts,
        "rebuilt": store.rebuilt,
        "start": opening.start((named or captured.groups[0].heads)[0], views),
        "origin": {
            "model": model,
            "text": shortened(captured.capture.tokens.text, MAX_SHOWN),
        },
        "live": int(opening.live),
    }
    first = _names(entries, FIRST)
    count = text(lang, "file.n_tokens", count=len(captured.capture.tokens))
    return document(
        Page(
            lang=lang,
            tokens="en" if languages(captured.name) == ("en",) else "any",
            title=choices.get("title") or _title(captured, lang),
            line=" · ".join((model, count, _checked(captured, lang))),
            origin=_origin(captured, lang),
            index=index,
            blocks={
                "first": store.packed(first),
                "later": store.packed(set(store.arrays) - first),
            },
        )
    )


def _views(store: Store, page_parts: Iterable[PagePart]) -> dict[str, Any]:
    """The index of a group's views: a component and what it is sent, by head or under ""."""
    views: dict[str, Any] = {}
    fine: Mapping[str, Sent] = {}
    for part in page_parts:
        view = views.setdefault(part.view, {"component": part.canvas, "heads": {}})
        name = "" if part.place is None else str(part.place)
        view["heads"][name] = store.add(part.data, fine if part.view == "overview" else {})
        if part.view == "head":
            fine = part.data.arrays
    return views


def _names(entries: Sequence[dict[str, Any]], views: Sequence[str]) -> set[str]:
    """The names of the arrays that these views show."""
    return {
        array["from"]
        for entry in entries
        for view in views
        for part in entry["views"].get(view, {"heads": {}})["heads"].values()
        for array in part["arrays"]
    }


def _title(captured: AppCapture, lang: Language) -> str:
    """The text; the model's title for a picture or a sound, whose tokens have no words."""
    capture = captured.capture
    if capture.tokens.text:
        return capture.tokens.text
    wordless = capture.grid is not None or capture.frame_s is not None
    return model_title(lang, captured.name) if wordless else _labels(captured)


def _labels(captured: AppCapture) -> str:
    """The first tokens, for a text that the capture does not know."""
    labels = captured.capture.tokens.labels
    more = " …" if len(labels) > LABEL_TOKENS else ""
    return " ".join(labels[:LABEL_TOKENS]) + more


def _checked(captured: AppCapture, lang: Language) -> str:
    """The largest difference from the model's own numbers, and the tolerance, in words."""
    accuracy = captured.accuracy
    if np.isnan(accuracy.tolerance):
        return text(lang, "file.unchecked")
    numbers = {
        "error": f"{accuracy.error:.1e}".replace("-", "−"),
        "tolerance": f"{accuracy.tolerance:.0e}".replace("-", "−"),
    }
    return text(lang, "verify.ok" if accuracy.ok else "verify.bad", **numbers)


def _origin(captured: AppCapture, lang: Language) -> list[tuple[str, str]]:
    """Where the numbers come from: model, revision, text, and the versions that made them."""
    key = captured.capture.model
    packages = [f"{name} {version}" for name in PACKAGES if (version := _version(name))]
    made_with = [f"attnviz {attnviz.__version__}", *packages, f"Python {platform.python_version()}"]
    rows = [
        ("model", key.id),
        ("revision", key.revision),
        ("numbers", " · ".join(part for part in (key.dtype, key.device) if part)),
        ("text", captured.capture.tokens.text or _labels(captured)),
        ("made_with", ", ".join(made_with)),
    ]
    return [(text(lang, f"file.{name}"), value) for name, value in rows if value]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
