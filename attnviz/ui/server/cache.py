"""Everything the app keeps between runs and shares between sessions, bounded, under full keys.

In: names and texts. Out: loaded models, captures with what is derived from all their heads, jobs,
and the byte buffers that components show. A key names all that determines the value: model id,
revision, dtype, device, texts, whether they were cut, and for a buffer the page, language, layer
and head. Resources are shared, not copied: callers only read them.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import streamlit as st

import attnviz
from attnviz.capture.request import Request
from attnviz.errors import ModelNotFound
from attnviz.models.registry import REGISTRY
from attnviz.ui.server import (
    answer_runs,
    loading,
    pyramids,
    refusals,
    run_request,
    sources,
    trainings,
    turns,
)
from attnviz.ui.server.answer_runs import Answering, Measurement
from attnviz.ui.server.jobs import Job
from attnviz.ui.server.keys import key_part, short
from attnviz.ui.server.sources import Source
from attnviz.ui.server.trainings import Training
from attnviz.ui.server.watchers import watched
from attnviz.views import geometry
from attnviz.views.app_capture import AppCapture, PageContext
from attnviz.views.drawn import Cells
from attnviz.views.drawn import shares as head_shares
from attnviz.views.groups import Group
from attnviz.views.links import links as head_links
from attnviz.views.measures import Measured, measure
from attnviz.views.ranking import RankedHead

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.steps import Steps
    from attnviz.capture import request as library
    from attnviz.capture.blocked_rows import BlockedRow
    from attnviz.course.birth import AblationScores
    from attnviz.experiment.lens import Lens
    from attnviz.experiment.outputs.similarity import Similarity
    from attnviz.lessons.cards.card import Card
    from attnviz.models.download import Progress
    from attnviz.models.loaded_model import LoadedModel
    from attnviz.survey.result import Survey

Result = TypeVar("Result")

MAX_MODELS = 2
MAX_OWN_MODELS, MAX_OWN_MIB = 8, 100  # all eight of the app take 100 MiB together
MAX_CAPTURES = 24  # the largest, 512 tokens of minilm, keeps about 30 MB
MAX_STEPS = 2  # the largest, of 2,048 tokens, keeps 70 MB
MAX_ANSWERS = 256  # texts, and small matrices of cosines
MAX_ANSWERING = 8  # a clean pass each: like a capture
MAX_MEASURED = 64  # a few numbers for each head; for each pair of heads, 0.5 MB of 144
MAX_LONG_CAPTURES = 2  # a small model on 16,384 tokens keeps 130 MB, one of 1B parameters 3 GB
LONG_CHARS = 6000  # what the text box takes; only a file holds more
MANY_CHARS = 2000  # some hundred tokens: the own models run them in a second
MAX_PYRAMIDS = 8  # the largest keeps 13 MB
MAX_TILE_ANSWERS = 48  # a dozen tiles of one byte each have 0.8 MB
MAX_LESSON_CARDS = 128
MAX_LESSON_CAPTURES = 24  # of sentences and small pictures
MAX_TRAININGS = 6
MAX_BUFFERS = 12  # the largest, all heads for 512 tokens, has 19 MB


def model(source: Source) -> "LoadedModel":
    """The loaded model; the first call takes seconds. The least recently used one goes.

    The app's own models are small and stay, so that a lesson's cards need not load them anew.
    """
    if _is_own(source):
        return _own_model(source.name)
    commit = downloaded().get(source.name)
    load = partial(_model, source.name, source.stamp, commit, source.device, source.dtype)
    return turns.in_turn(f"{source} {commit}", load)


def _is_own(source: Source) -> bool:
    return source.name in REGISTRY and REGISTRY[source.name].card.size_mib <= MAX_OWN_MIB


@st.cache_resource(max_entries=1, show_spinner=False)
def downloaded() -> dict[str, str]:
    """The hub models that were downloaded while this server ran, and the commit of each."""
    return {}


def download(name: str, progress: "Progress") -> None:
    """Download a hub model, which is loaded from these files from now on; reports `progress`."""
    with loading.importing:
        from attnviz.models.download import fetch
    downloaded()[name] = fetch(name, None, progress).commit


def _forget_captures(_: object) -> None:
    """Drop the captures, which point into the weights of a model that is dropped."""
    _captured.clear()
    _long_captured.clear()
    _lesson_capture.clear()
    _steps.clear()
    _answering.clear()


@st.cache_resource(max_entries=MAX_MODELS, show_spinner=False, on_release=_forget_captures)
def _model(
    name: str, stamp: str, commit: str | None, device: str | None, dtype: str | None
) -> "LoadedModel":
    try:
        return loading.load(name, commit, device, dtype)
    except ModelNotFound:
        downloaded().pop(name, None)  # its files may be gone: fetch them when asked again
        raise


@st.cache_resource(max_entries=MAX_OWN_MODELS, show_spinner=False, on_release=_forget_captures)
def _own_model(name: str) -> "LoadedModel":
    return loading.load(name)


def captured(source: Source, request: Request) -> AppCapture:
    """The capture of a request: its input run through the model, and verified."""
    loaded = model(source)
    n_chars = sum(map(len, request.text))
    key = short(f"{source} {loaded.key} {request.key}")
    run = partial(
        _long_captured if n_chars > LONG_CHARS else _captured, key, source, request, loaded
    )
    if _is_own(source) and n_chars <= MANY_CHARS:
        return refusals.remembered(key, run)
    return refusals.remembered(key, lambda: turns.in_turn(key, run))


@st.cache_resource(max_entries=MAX_LONG_CAPTURES, show_spinner=False)
def _long_captured(
    key: str, _source: Source, _request: Request, _loaded: "LoadedModel"
) -> AppCapture:
    return _run(key, _source, _request, _loaded)


@st.cache_resource(max_entries=MAX_CAPTURES, show_spinner=False)
def _captured(key: str, _source: Source, _request: Request, _loaded: "LoadedModel") -> AppCapture:
    return _run(key, _source, _request, _loaded)


def _run(key: str, source: Source, request: Request, loaded: "LoadedModel") -> AppCapture:
    recall = partial(captured, source, request)
    return run_request.captured(key, source.name, request, loaded, recall)


def measured(shown: PageContext) -> Measured:
    """The role and the measures of each head of a group on the first text."""
    return _measured(shown.key, shown.group)


@st.cache_resource(max_entries=MAX_CAPTURES, show_spinner=False)
def _measured(key: str, _group: Group) -> Measured:
    return measure(_group)


def steps(shown: PageContext, layer: int, head: int) -> "Steps":
    """The steps of one head on the first text, as the model computes them."""
    return _steps(f"{shown.key} {layer} {head}", shown.group, layer, head)


@st.cache_resource(max_entries=MAX_STEPS, show_spinner=False)
def _steps(key: str, _group: Group, _layer: int, _head: int) -> "Steps":
    return attnviz.derive(_group.call(_layer), _head, _group.row(_layer))


def links(shown: PageContext, query: int, key: int) -> tuple[RankedHead, ...]:
    """Every head's link from a query to a key, with its control, the clearest first."""
    return _links(f"{shown.key} {query} {key}", shown.group, query, key)


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def _links(key: str, _group: Group, _query: int, _key: int) -> tuple[RankedHead, ...]:
    return head_links(_group, _query, _key)


def shares(shown: PageContext, cells: Cells) -> tuple[RankedHead, ...]:
    """Every head's share of attention on painted cells, beside chance, the clearest first."""
    painted = hashlib.sha256(np.packbits(cells).tobytes()).hexdigest()
    return _shares(f"{shown.key} {cells.shape} {painted}", shown.group, cells)


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def _shares(key: str, _group: Group, _cells: Cells) -> tuple[RankedHead, ...]:
    return head_shares(_group, _cells)


def plane_shares(shown: PageContext) -> tuple[float, ...]:
    """The share of each head's scores that its best plane keeps."""
    return _plane_shares(shown.key, shown.group)


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def _plane_shares(key: str, _group: Group) -> tuple[float, ...]:
    return geometry.shares(_group)


def answer(source: Source, question: str, cut: bool) -> str:
    """The target that an encoder-decoder generates for a text, up to its end token."""
    loaded = model(source)
    return _answer(f"{source} {loaded.key} {cut} {question}", question, cut, loaded)


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def _answer(key: str, _question: str, _cut: bool, _loaded: "LoadedModel") -> str:
    from attnviz.experiment.outputs.answer import answer

    return answer(_loaded, _question, cut=_cut)


def similarity(captured: AppCapture, texts: tuple[str, ...]) -> "Similarity":
    """The cosines between sentences."""
    return _similarity(f"{captured.key} {texts}", texts, captured.model)


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def _similarity(key: str, _texts: tuple[str, ...], _loaded: "LoadedModel") -> "Similarity":
    from attnviz.experiment.outputs.similarity import similarity

    return similarity(_loaded, _texts, cut=True)


def _stop_job(begun: pyramids.HeadPyramid | Training | Measurement[Any]) -> None:
    begun.job.stop()


def answers(captured: AppCapture, request: "library.Request", others: tuple[str, ...]) -> Answering:
    """The model's answer to a capture's input, ready to be computed again with heads changed."""
    return _answering(f"{captured.key} {request.key} {others}", captured.model, request, others)


@st.cache_resource(max_entries=MAX_ANSWERING, show_spinner=False)
def _answering(
    key: str, _loaded: "LoadedModel", _request: "library.Request", _others: tuple[str, ...]
) -> Answering:
    return answer_runs.answering(_loaded, _request, _others)


@st.cache_resource(max_entries=MAX_ANSWERS, show_spinner=False)
def sentences(key: str, _say: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """The sentences that `_say` returns of an answer; `key` names all that determines them."""
    return _say()


@st.cache_resource(max_entries=MAX_ANSWERING, show_spinner=False)
def lens(key: str, _read: "Callable[[], Lens]") -> "Lens":
    """The guesses after each layer that `_read` returns; `key` names all that determines them."""
    return _read()


def measurement(key: str, work: Callable[[Job], Result]) -> Measurement[Result]:
    """The measurement of `work`, which `key` names; its job starts at the first call."""
    return watched(_measurement, key, work)


def forget_measurement(key: str) -> None:
    """Measure that anew when it is asked for again."""
    _measurement.clear(key, None)


@st.cache_resource(max_entries=MAX_MEASURED, show_spinner=False, on_release=_stop_job)
def _measurement(key: str, _work: Callable[[Job], Any]) -> Measurement[Any]:
    return answer_runs.measure(_work)


@st.cache_resource(max_entries=1, show_spinner=False)
def counted_surveys() -> "dict[str, Survey]":
    """The surveys of their own texts that models have on this server, by the models' keys."""
    return {}


def pyramid(
    key: str, call: "AttentionCall", head: int, distance: int | None
) -> pyramids.HeadPyramid:
    """The pyramid of one head, which `key` names; its job starts at the first call.

    With it come the strongest cells whose query and key are at least that far apart.
    """
    call.check(head, 0)
    return watched(_pyramid, key, call, head, distance)


def forget_pyramid(key: str) -> None:
    """Build that pyramid anew when it is asked for again."""
    _pyramid.clear(key, None, None, None)


@st.cache_resource(max_entries=MAX_PYRAMIDS, show_spinner=False, on_release=_stop_job)
def _pyramid(
    key: str, _call: "AttentionCall", _head: int, _distance: int | None
) -> pyramids.HeadPyramid:
    return pyramids.start(_call, _head, _distance)


@st.cache_resource(max_entries=MAX_TILE_ANSWERS, show_spinner=False)
def tiles(key: str, _build: Callable[[], bytes]) -> bytes:
    """The tiles that `_build` packs; `key` names everything that determines them."""
    return _build()


@st.cache_resource(max_entries=MAX_BUFFERS, show_spinner=False)
def buffer(key: str, _build: Callable[[], bytes]) -> bytes:
    """The bytes that `_build` makes; `key` names everything that determines them."""
    return _build()


@st.cache_resource(max_entries=MAX_LESSON_CARDS, show_spinner=False)
def lesson_card(key: str, _build: "Callable[[], Card]") -> "Card":
    """A card of a lesson with the values set on it, built once for all visitors."""
    return _build()


def lesson_capture(
    model_name: str, lesson_text: object = None, /, **options: object
) -> "attnviz.Capture":
    """The capture of a lesson: a registry model on a text, with keywords of `attnviz.capture`."""
    arguments = [lesson_text, *(part for pair in sorted(options.items()) for part in pair)]
    loaded = model(sources.source(model_name))
    return _lesson_capture(
        f"{model_name} {'; '.join(map(key_part, arguments))}",
        lambda: attnviz.capture(loaded, lesson_text, **options),  # type: ignore[arg-type]
    )


@st.cache_resource(max_entries=MAX_LESSON_CAPTURES, show_spinner=False)
def _lesson_capture(key: str, _run: "Callable[[], attnviz.Capture]") -> "attnviz.Capture":
    return _run()


def training(seed: int, owner: str = "", n_steps: int | None = None) -> Training:
    """The training of a seed; its job starts at the first call; the first visitor is its owner.

    `n_steps` is its length, None for that of the lesson.
    """
    begun = watched(_training, seed, n_steps)
    begun.owner = begun.owner or owner
    return begun


def forget_training(seed: int) -> None:
    """Train anew when that seed is asked for again."""
    _training.clear(seed, None)


@st.cache_resource(max_entries=MAX_TRAININGS, show_spinner=False, on_release=_stop_job)
def _training(seed: int, n_steps: int | None) -> Training:
    return trainings.begin(seed, n_steps)


def ablations(training: Training) -> "AblationScores":
    """The scores of a finished training, and with each head of its first layer ablated."""
    return _ablations(training.seed, training)


@st.cache_resource(max_entries=MAX_TRAININGS, show_spinner=False)
def _ablations(key: int, _training: Training) -> "AblationScores":
    from attnviz.course import birth

    return birth.effects(birth.restore(_training.snapshots[-1]))


@st.cache_resource(max_entries=1, show_spinner=False)
def dead_rows() -> "tuple[BlockedRow, ...]":
    """The results of each attention API for a query whose keys are all blocked."""
    from attnviz.capture import blocked_rows

    return blocked_rows.blocked_rows()
