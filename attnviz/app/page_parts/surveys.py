"""The survey that the pages show: one that the visitor opened, or one of the model's own texts.

In: a model, and what the visitor opened. Out: a `Survey`, or its progress on the page. The survey
of a model's own texts or pictures is counted once for all visitors; what a visitor opens stays in
the session.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from attnviz.app.frame import measurement
from attnviz.app.server import turns
from attnviz.app.server.jobs import Job
from attnviz.app.session import messages, model_images, store, uploads, widgets
from attnviz.corpus.texts import reads_texts, require_reader
from attnviz.errors import BadInput, Cancelled
from attnviz.i18n import Language, text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.types import MIB

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.corpus.items import Pictures
    from attnviz.corpus.result import Survey
    from attnviz.corpus.texts import Texts
    from attnviz.models.loaded_model import LoadedModel

Result = TypeVar("Result")
WIDGET, OPENED, OWN = "survey_file", "survey", "own"
READS = "a survey of texts needs an encoder or a decoder that reads them"
MAX_MIB = 64  # of an upload
MAX_UNPACKED = 128 * MIB  # 72 heads take 11
MAX_CHARS = 16_000  # of one text
CHARACTER_S, PICTURE_S = 1e-4, 0.1  # that a survey takes
N_PICTURES = 128
MAX_KEPT = 8  # surveys of models' own texts
TEXT_FILES = ("txt", "csv", "jsonl")

# the surveys of their own texts that models have on this server, by the models' keys
_counted_surveys: "dict[str, Survey]" = {}


def survey(shown: PageContext) -> "Survey | None":
    """The visitor's survey, or that of the model's own texts; None while it is counted."""
    opened = store.get(OPENED)
    if isinstance(opened, tuple):
        # a model of pictures would take them for the names of files on this machine
        require_reader(shown.captured.model, READS)
        digest = hashlib.sha256("\0".join(opened).encode()).hexdigest()
        return _counted(shown, f"texts {digest}", opened)
    if opened is not None:
        result: Survey = opened
        return result
    own = _own(shown.captured.model)
    if own is not None:
        return own
    return _counted(shown, OWN, _samples(shown.captured.model))


def has_samples(loaded: "LoadedModel") -> bool:
    """True if there are texts or pictures for a survey by the model."""
    return loaded.kind == "vision" or reads_texts(loaded)


def _samples(loaded: "LoadedModel") -> "Texts | Pictures":
    """Texts that come with the app, or generated pictures under the names that open them."""
    if loaded.kind == "vision":
        names = map(model_images.sample_name, range(model_images.FIRST_SAMPLE, N_PICTURES + 1))
        return {name: model_images.made(name) for name in names}
    from attnviz.corpus.samples import sample_texts

    return sample_texts(loaded)


def _own(loaded: "LoadedModel") -> "Survey | None":
    """The survey of a model's own texts: one that was counted here, or that comes with it."""
    if str(loaded.key) not in _counted_surveys:
        from attnviz.corpus.embedded import embedded_survey

        known = embedded_survey(loaded)
        if known is not None:
            _keep(str(loaded.key), known)
    return _counted_surveys.get(str(loaded.key))


def of_model(name: str) -> "Survey":
    """The survey that an embedded model comes with; the model need not be loaded."""
    if name not in _counted_surveys:
        from attnviz.corpus.archive import read_survey
        from attnviz.corpus.embedded import path_of

        _keep(name, read_survey(path_of(name)))
    return _counted_surveys[name]


def _keep(key: str, survey: "Survey") -> None:
    """Keep a survey for all visitors, in the place of the oldest if there are many."""
    _counted_surveys[key] = survey
    for oldest in [*_counted_surveys][:-MAX_KEPT]:
        _counted_surveys.pop(oldest, None)


def is_opened() -> bool:
    """True if the visitor opened a survey or texts."""
    return store.get(OPENED) is not None


def known(shown: PageContext) -> "Survey | None":
    """The survey of what is shown if there is one; nothing is counted for it."""
    loaded = shown.captured.loaded
    own = None if loaded is None else _own(loaded)
    found = store.get(OPENED)
    survey = own if found is None or isinstance(found, tuple) else found
    return survey if survey is not None and fits(survey, shown.captured.capture) else None


def is_of_pictures(shown: PageContext, survey: "Survey") -> bool:
    """True if a survey is of the model that is shown, and this reads pictures."""
    loaded = shown.captured.loaded
    return loaded is not None and loaded.kind == "vision" and survey.model == loaded.key


def fits(survey: "Survey", capture: "Capture") -> bool:
    """True if a survey is of the model and of the heads of a capture."""
    same = (survey.model.id, survey.model.revision) == (capture.model.id, capture.model.revision)
    heads = [(call.layer, head) for call in capture.calls for head in range(call.n_heads)]
    return same and heads == [(place.layer, place.head) for place in survey.heads]


def _counted(shown: PageContext, name: str, texts: "Texts | Pictures") -> "Survey | None":
    """The survey of texts that `name` tells from others; None while they are counted."""
    loaded = shown.captured.model
    key = f"survey {loaded.key} {name}"
    work, estimate_s = partial(_count, loaded, texts), _estimate_s(texts)
    result = measurement.result(shown.lang, "atlas", key, work, estimate_s)
    if result is not None and name == OWN:
        _keep(str(loaded.key), result)
    return result


def _estimate_s(items: "Texts | Pictures") -> float:
    """About as many seconds as a small model needs for the texts, or the pictures."""
    if isinstance(items, Mapping):
        return len(items) * PICTURE_S
    assert isinstance(items, tuple)
    return len("".join(items)) * CHARACTER_S


def _count(loaded: "LoadedModel", texts: "Texts | Pictures", job: Job) -> "Survey":
    from attnviz.corpus.survey import survey_at_once

    def report(n_done: int, n_text: int) -> None:
        if job.cancel.is_set():
            raise Cancelled("stopped on request; call again for the survey", code="cancelled")
        job.report(n_done / n_text)

    return survey_at_once(loaded, texts, report)


def upload(lang: Language) -> None:
    """An uploader for a survey or for texts, and a way back to the model's own texts."""
    with st.expander(text(lang, "atlas.open"), key=widgets.key("survey")):
        file = st.file_uploader(
            text(lang, "atlas.upload"),
            type=["npz", *TEXT_FILES],
            max_upload_size=MAX_MIB,
            key=widgets.key(WIDGET),
            help=text(lang, "atlas.upload_help"),
            on_change=_take,
        )
        problem = uploads.problem(WIDGET)
        if file is not None and problem is not None:
            messages.show(lang, problem)
        if is_opened():
            st.button(text(lang, "atlas.close"), key=widgets.key("survey.close"), on_click=_close)


def _take() -> None:
    file = widgets.value(WIDGET)
    if file is None:
        return
    with uploads.taking(WIDGET), turns.turn():
        store.put(OPENED, _read(file.name, file.getvalue()))


def _close() -> None:
    store.pop(OPENED)


def _read(name: str, data: bytes) -> "Survey | tuple[str, ...]":
    """The survey of an upload, or its texts."""
    from attnviz.corpus.archive import read_survey

    ending = Path(name).suffix.lower()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"survey{ending}"
        path.write_bytes(data)
        if ending == ".npz":
            return _named(name, path, partial(read_survey, max_bytes=MAX_UNPACKED))
        texts = _named(name, path, _different)
        if not texts:
            raise BadInput(f"{name} has no text in it", code="no_file", path=name, reason="empty")
        return texts


def _different(path: Path) -> tuple[str, ...]:
    """The first different texts of a file, as many as one survey takes; it is read no further."""
    from attnviz.corpus.shards import SHARD
    from attnviz.corpus.texts import read_texts

    texts: dict[str, None] = {}
    for read in read_texts(path, most_chars=MAX_CHARS):
        if "\0" in read:
            raise BadInput(
                f"{path} has the character NUL: it is no file of texts",
                code="no_file",
                path=str(path),
                reason="it has the character NUL",
            )
        texts[read] = None
        if len(texts) == SHARD:
            break
    return tuple(texts)


def _named(name: str, path: Path, read: Callable[[Path], Result]) -> Result:
    """The result of reading; an error names the visitor's file."""
    try:
        return read(path)
    except BadInput as error:
        raise error.worded(str(path), name) from error
