"""`save` and `read`: a capture as a file, by the ending of its name, and back.

In: a capture, or two to compare, a path and what the kind of file lets one choose. Out: the file.
Every argument is used or refused by name: a width means nothing to a table, a threshold nothing to
a figure.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import torch

from attnviz.attention.capture import Capture
from attnviz.corpus import archive as survey_archive
from attnviz.corpus.result import Survey
from attnviz.errors import BadInput, bad_argument
from attnviz.figures.ramp import Scale
from attnviz.figures.sheet import Cells
from attnviz.figures.style import Style
from attnviz.files import figures, replacing, surveys, tables
from attnviz.files.capture_file import read as capture_reader
from attnviz.files.capture_file import write as capture_writer
from attnviz.files.figures import Place, View
from attnviz.files.tables import Result, entries
from attnviz.i18n import Language
from attnviz.types import Head, Kind, Measure, Stack

if TYPE_CHECKING:
    import numpy as np

    from attnviz.files.saved_page import Heads
    from attnviz.files.saved_page.first_view import PageView
    from attnviz.models.loaded_model import LoadedModel

Captures = Capture | tuple[Capture, Capture]
What = Captures | Survey | Result
Writer = Callable[[BufferedIOBase], object]

PLACE = ("head", "kind", "stack", "batch")
LIVE = ("live", "lang", "model")  # the choices of a page on which the model runs
FIGURE = ("view", *PLACE, "heads", "picture", "query", *Style.__annotations__)
# the ending of a file → the arguments that it takes
ENDINGS: dict[str, tuple[str, ...]] = {
    ".safetensors": ("dtype", "with_weights", "with_outputs"),
    ".html": ("lang", "view", "head", "heads", "title", "model", "picture", "live"),
    ".npz": (*PLACE, "dtype"),
    ".csv": (*PLACE, "least"),
    ".json": PLACE,
    ".svg": FIGURE,
    ".pdf": FIGURE,
    ".png": FIGURE,
    ".eps": FIGURE,
}


class Choices(TypedDict, total=False):
    """The choices for a file; each kind of file takes some of them. `save` explains them."""

    view: "View | PageView | None"
    head: Head | None
    kind: Kind | None
    stack: Stack | None
    batch: int
    dtype: str | torch.dtype | None
    with_weights: bool
    with_outputs: bool
    least: float | None
    width_in: float
    size_pt: float
    scale: Scale
    cells: Cells
    title: str
    lang: Language
    measures: tuple[Measure, Measure]
    heads: "Heads"
    model: "LoadedModel | None"
    picture: "np.ndarray | None"
    query: int | None
    live: bool
    row_title: str
    column_title: str


def save(what: What, path: str | Path, **choices: Unpack[Choices]) -> Path:
    """Write a capture, a survey or a result as the kind of file that the path's ending names.

    Parameters:

    - `what`: a capture, two captures for a figure of their difference, a survey, or any result with
      a `to_dict`, such as a table of heads or the effects of an experiment (.csv, .json).
    - `path`: its ending says what is written.

    The `choices` of a capture, by ending:

    - .safetensors, the capture itself, which `attnviz.read` opens without its model: `dtype`,
      "float16" or "bfloat16" for half the size; `with_weights` keeps W_Q, W_K, W_V and W_O, so that
      every step can be derived; `with_outputs` keeps `hidden` and `logits`.
    - .html, one page with the pictures of the app, without a server or a network: `view`,
      "overview", "head", "steps", "masks", "picture" or "alignment", and `head`, on which it opens;
      `heads`, those that have Steps and Masks in it, or "all"; `lang`, "en", "ja", "ko" or "zh";
      `title`; `model`, a `LoadedModel` that joins words and knows a translation's alignment;
      `picture`, what the model saw; `live` for a page in which the model itself runs, so that its
      reader can type: it takes `lang` and `model` alone.
    - .npz, .csv, .json, its weights as numbers: `head`, one such as "L5.H11" (a CSV of one head is
      a matrix); `kind`, `stack` and `batch`, one attention and one text; `dtype`, "float16" in an
      archive; `least`, the smallest weight that has a row in a CSV.
    - .svg, .pdf, .png, .eps, figures for print (.pdf and .eps with their fonts in the file; text in
      an .svg stays text, in Helvetica or what the reader has instead): all heads, or `view`, one
      head as "head", "lines", "steps" or "alignment"; `head`, `kind`, `stack`, `batch` as above;
      `heads`, several side by side; `width_in`, `size_pt`, `scale`, `cells`, `title`, `row_title`
      and `column_title` as in `attnviz.figures`. As "picture", with `picture`, what a vision model
      saw, [row, column, rgb]: its patches by the weights of `query`, a position or else [CLS].

    Of a survey: .npz, the survey itself, which `attnviz.read` opens; .csv and .json, its table of
    heads; .svg, .pdf, .png and .eps, its heads on two `measures`, with `width_in`, `size_pt` and
    `title`; .html, that figure with what each head does, with `measures` and `lang`.

    Returns the path.

    Raises `BadInput` for another ending, an argument that this kind of file does not take, and a
    path that cannot be written; `TooLarge` for a file that would be absurd, with what to do
    instead; `MissingExtra` where a figure needs matplotlib.

    Example:

    >>> import tempfile
    >>> cap = attnviz.capture("stories", "Tom had a red ball.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     attnviz.save(cap, f"{folder}/ball.svg", view="head", head="L2.H1").name
    'ball.svg'
    """
    if not isinstance(path, str | Path):
        raise bad_argument(
            f"save() takes a file as path and was given {type(path).__name__}; give the file"
            ' second: save(cap, "x.svg")',
            name="path",
            found=type(path).__name__,
            allowed="str, Path",
        )
    write = _writer(what, Path(path).suffix.lower(), choices)
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        write(file)
    return Path(path)


def content(what: What, ending: str, **choices: Unpack[Choices]) -> bytes:
    """The bytes of the file that `save` writes under a name with this ending, such as ".svg"."""
    file = io.BytesIO()
    _writer(what, ending.lower(), choices)(file)
    return file.getvalue()


def read(path: str | Path, *, max_bytes: int | None = None) -> Capture | Survey:
    """The capture of a .safetensors file, or the survey of an .npz file, that `save` wrote.

    Parameters: `path` of the file, and `max_bytes`, the most that it may have; each kind has a
    limit of its own if none is given.

    Returns a `Capture`, read without its model: weights, steps and `verify()` are those of the
    saved one. Or a `Survey`.

    Raises `BadInput` for a file that is missing or damaged, and for one that holds neither, such as
    a page or the weights of a capture; `TooLarge` for one over `max_bytes`.

    Example:

    >>> import tempfile
    >>> cap = attnviz.capture("stories", "Tom had a red ball.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     attnviz.read(attnviz.save(cap, f"{folder}/ball.safetensors")).verify().ok
    True
    """
    if Path(path).suffix.lower() == ".npz":
        return survey_archive.read_survey(path, max_bytes=max_bytes or survey_archive.MAX_BYTES)
    return capture_reader.read(path, max_bytes=max_bytes or capture_reader.MAX_BYTES)


def _writer(what: What, ending: str, choices: Choices) -> Writer:
    """The function that writes a kind of file, after every argument was checked."""
    if isinstance(what, Survey):
        settings = _options(choices, ending, surveys.ENDINGS, "a survey")
        return lambda file: file.write(surveys.content(what, ending, settings))
    if isinstance(what, Result) and not isinstance(what, Capture):
        _options(choices, ending, tables.RESULT_ENDINGS, "a result")
        return lambda file: file.write(tables.result_content(what, ending))
    options = _options(choices, ending, ENDINGS, "a capture")
    _require_captures(what, ending)
    if ENDINGS[ending] == FIGURE:
        return _figure(what, ending, options)
    assert isinstance(what, Capture), "two captures are drawn, and nothing else"
    if ending == ".safetensors":
        return lambda file: capture_writer.write(what, file, **options)
    if ending == ".html":
        page = _page(what, options)
        return lambda file: file.write(page)
    return _table(what, ending, options)


def _options(
    choices: Choices, ending: str, endings: Mapping[str, tuple[str, ...]], what: str
) -> dict[str, Any]:
    """The choices that were made; raises `BadInput` for an ending, and for one that it refuses."""
    if ending not in endings:
        raise BadInput(
            f"{what} cannot be saved as {ending or 'a file without an ending'!r}; give one of"
            f" {', '.join(endings)}",
            code="bad_ending",
            found=ending,
            allowed=", ".join(endings),
        )
    options: dict[str, Any] = {name: value for name, value in choices.items() if value is not None}
    _require_taken(options, endings[ending], f"a {ending} file of {what}", ending)
    return options


def _require_taken(
    options: Mapping[str, Any], taken: Sequence[str], what: str, ending: str
) -> None:
    """Raise `BadInput` for an option that this file does not take."""
    allowed = ", ".join(taken)
    for name in options:
        if name not in taken:
            raise bad_argument(
                f"{name}= means nothing for {what}; it takes {allowed or 'none'}",
                name=name,
                found=ending,
                allowed=allowed,
            )


def _require_captures(what: object, ending: str) -> None:
    """Raise `BadInput` unless there is one capture, or two for a figure."""
    captures = what if isinstance(what, tuple) else (what,)
    kinds = [type(capture).__name__ for capture in captures]
    several = isinstance(what, tuple)
    fits = all(isinstance(capture, Capture) for capture in captures)
    if not fits or (several and (len(captures) != 2 or ENDINGS[ending] != FIGURE)):
        allowed = "a Capture, a Survey, a result, or two captures for a figure"
        raise bad_argument(
            f"save() takes {allowed}, and was given {', '.join(kinds)} for a {ending} file; give"
            " attnviz.capture(model, text)",
            name="what",
            found=", ".join(kinds),
            allowed=allowed,
        )


def _page(cap: Capture, options: dict[str, Any]) -> bytes:
    """The page of a capture, or one on which its model runs; the canvases are read for it alone."""
    if not options.pop("live", False):
        from attnviz.files.saved_page import page_bytes
        from attnviz.files.saved_page.first_view import PageOpening

        opening = PageOpening(options.pop("view", None), options.pop("head", None))
        return page_bytes(cap, opening=opening, **options)
    from attnviz.live.site import live_page

    _require_taken(options, LIVE, "a page with live=True", ".html")
    return live_page(cap, **options)


def _figure(what: Captures, ending: str, options: dict[str, Any]) -> Writer:
    place = Place(**{name: options[name] for name in PLACE if name in options})
    style: Any = {name: options[name] for name in Style.__annotations__ if name in options}
    seen = figures.Seen(options.get("picture"), options.get("query"))
    drawing = figures.drawing(what, options.get("view"), place, style, options.get("heads"), seen)
    return lambda file: file.write(drawing.content(ending))


def _table(cap: Capture, ending: str, options: dict[str, Any]) -> Writer:
    written = entries(cap, **{name: options[name] for name in PLACE if name in options})
    if ending == ".npz":
        return lambda file: tables.write_npz(cap, written, file, options.get("dtype", "float32"))
    if ending == ".json":
        return lambda file: tables.write_json(cap, written, file)
    if "head" in options and "least" not in options and len(written) == 1:
        return lambda file: tables.write_matrix(written[0], file)
    return lambda file: tables.write_csv(written, file, options.get("least", 0.0))
