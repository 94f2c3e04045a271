"""What the worker sends to canvases, beside the bytes that the library packs for them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz.i18n import LANGUAGES, Language
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures import grid, head, masks, steps
from attnviz.pictures.group import heads as head_views
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.measures import measure
from attnviz.pictures.masks import fill as mask_views
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.steps import fill as step_views
from tests.support.cases import mostly_slow
from tests.support.live_worker import answers, model_files, opening, show
from tests.support.node import needs_node

pytestmark = needs_node

TEXTS = {
    "stories": "Anna has a red ball. Tom has a blue hat. Tom gives the hat to",
    "stories-llama": "Anna has a red ball. Tom has a blue hat. Tom gives the hat to",
    "minilm": "The keys to the old cabinet are on the table.",
    "sentiment": "the film was not good , the film was bad .",
    "translator": "the big black dog sees a small bird",
    "dates": "Monday January 12 1948",
}
TARGETS = {"translator": "le chien noir voit un oiseau", "dates": "1948"}
CASES = [(name, lang) for lang in LANGUAGES for name in TEXTS]
QUICK = [("stories", "en"), ("translator", "zh")]
PLACE = {"layer": 1, "head": 2}

Unpacked = tuple[dict[str, Any], dict[str, Any]]


def capture_of(lm: LoadedModel) -> AppCapture:
    target = TARGETS.get(lm.name)
    return AppCapture.alone(attnviz.capture(lm, TEXTS[lm.name], target=target), lm)


def by_worker(lm: LoadedModel, lang: Language, folder: Path, *shown: dict[str, Any]) -> list[Any]:
    info = model_files(lm, folder, lang)
    _, loaded, *found = answers([*opening(info, lang), *shown])
    assert loaded["kind"] == "loaded", loaded
    for answer in found:
        assert answer["kind"] != "refused", answer
    return found


def by_library(shown: PageContext) -> dict[str, bytes]:
    """Each picture of a group as the app packs it."""
    lang, measured = shown.lang, measure(shown.group)
    layer, number = PLACE["layer"], PLACE["head"]
    derived = attnviz.derive(shown.group.call(layer), number, shown.group.row(layer))
    return {
        "grid": packed(grid.CANVAS, head_views.grid_view(shown, measured), lang),
        "head": packed(head.CANVAS, head_views.head_view(shown, measured), lang),
        "steps": packed(steps.CANVAS, step_views.steps(shown, layer, number, derived), lang),
        "masks": packed(masks.CANVAS, mask_views.masks_data(shown, layer, number), lang),
    }


def assert_alike(ours: bytes, theirs: bytes, but: tuple[str, ...] = ()) -> None:
    """The same header but for some keys, the same arrays but for rounding."""
    (header, arrays), (wanted, wanted_arrays) = unpack(ours), unpack(theirs)
    for key in but:
        header.pop(key, None), wanted.pop(key, None)
    assert header == wanted
    assert set(arrays) == set(wanted_arrays)
    for name, array in wanted_arrays.items():
        assert_numbers_alike(name, arrays[name], array)


def assert_numbers_alike(name: str, ours: Any, theirs: Any) -> None:
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, name
    if theirs.dtype == np.float32:
        finite = np.isfinite(theirs)
        assert (np.isfinite(ours) == finite).all(), name
        np.testing.assert_allclose(ours[finite], theirs[finite], rtol=2e-4, atol=2e-4)
        return
    apart = np.abs(ours.astype(int) - theirs.astype(int))
    step = 2 if theirs.dtype == np.uint16 else 1
    assert apart.max(initial=0) <= 16 * step - 15, name
    assert theirs.dtype == np.uint16 or (apart > 0).mean() < 1e-3, name


@pytest.mark.some(1)
@pytest.mark.parametrize(("name", "lang"), mostly_slow(CASES, QUICK))
def test_show_packs_what_the_library_packs(name: str, lang: Language, tmp_path: Path) -> None:
    lm = attnviz.load(name)
    captured = capture_of(lm)
    requests = [
        show(
            name,
            ["grid", "head", "steps", "masks"],
            input={"text": TEXTS[name], "target": TARGETS.get(name)},
            group=group.name,
            **PLACE,
        )
        for group in captured.groups
    ]
    found = by_worker(lm, lang, tmp_path, *requests)
    for answer, group in zip(found, captured.groups, strict=True):
        assert answer["group"] == group.name
        wanted = by_library(PageContext(lang, captured, group))
        assert set(answer["views"]) == set(wanted)
        for view, data in wanted.items():
            but = ("panels", "editable") if view == "steps" else ()
            assert_alike(answer["views"][view], data, but)
        assert_panels_alike(answer["views"]["steps"], wanted["steps"])


def assert_panels_alike(ours: bytes, theirs: bytes) -> None:
    """The same panels but for what each was compared with."""
    compared = ("error", "tolerance")
    shown, wanted = (
        [dict(panel) for panel in unpack(data)[0]["panels"]] for data in (ours, theirs)
    )
    for panel in shown:
        if panel["shape"] is not None:
            assert panel["ok"], panel
    for panel in (*shown, *wanted):
        for key in compared:
            panel.pop(key, None)
    assert shown == wanted
