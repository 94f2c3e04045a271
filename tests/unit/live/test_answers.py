"""The worker's answers beside the library's: heads off, effects, written texts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import attnviz
from attnviz.app.frame.attention_choice import group_title
from attnviz.capture.plan.images import seen_picture
from attnviz.capture.request import Request
from attnviz.changes import parse
from attnviz.experiment.changed_run import continued
from attnviz.experiment.clean_run import prepare_request
from attnviz.experiment.outputs.alignment import align
from attnviz.experiment.outputs.answer import answer as translation
from attnviz.experiment.outputs.classes import classes
from attnviz.experiment.outputs.next_token import ranked
from attnviz.experiment.run import Experiment
from attnviz.i18n import Language
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures import alignment, head, patches, switches
from attnviz.pictures.alignment import AlignmentView, ShownWord, Stated
from attnviz.pictures.group import heads as head_views
from attnviz.pictures.group.answers import no_guess_sentence
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.measures import measure
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.switches import fill
from attnviz.worlds import shapes
from tests.support.cases import mostly_slow
from tests.support.live_worker import answers, model_files, opening, show
from tests.support.node import needs_node

pytestmark = needs_node

TEXTS = {
    "stories": "When Mary and John went to the store, John gave a book to",
    "stories-llama": "Anna has a red ball. Tom has a blue hat. Tom gives the hat to",
    "minilm": "The keys to the old cabinet are on the table.",
    "sentiment": "the film was not good at all .",
    "translator": "the big black dog sees a small bird",
}
TARGET = "le chien noir voit un ornithorynque"  # a word of several pieces
OFF = {
    "stories": "L0.H0.mixed=zero,L2.H1.mixed=mean",
    "stories-llama": "L1.H2.weights=even",
    "minilm": "L3.H7.mixed=mean,L5.H0.weights=even,L0.H11.mixed=zero,L1.H1.mixed=mean",
    "sentiment": "L1.H3.mixed=mean",
    "translator": "decoder.cross.L1.H2.mixed=mean,encoder.L0.H1.mixed=zero",
}
DRAWS = 8
CASES = [(name, "en") for name in TEXTS] + [("stories", "ko"), ("translator", "ja")]
QUICK = [("stories", "ko"), ("sentiment", "en"), ("translator", "ja")]


def asked(lm: LoadedModel, folder: Path, lang: Language, *requests: dict[str, Any]) -> list[Any]:
    _, loaded, *found = answers([*opening(model_files(lm, folder, lang), lang), *requests])
    assert loaded["kind"] == "loaded", loaded
    return found


def input_of(name: str) -> dict[str, Any]:
    given = {"text": TEXTS[name]}
    return given | ({"target": TARGET} if name == "translator" else {})


def experiment_of(lm: LoadedModel) -> tuple[Experiment, AppCapture]:
    given = input_of(lm.name)
    request = Request.of(given["text"], target=given.get("target"))
    captured = AppCapture.alone(attnviz.capture(lm, given["text"], target=given.get("target")), lm)
    return Experiment(prepare_request(lm, request)), captured


@pytest.mark.some(1)
@pytest.mark.parametrize(("name", "lang"), mostly_slow(CASES, QUICK))
def test_show_switches_as_the_library(name: str, lang: Language, tmp_path: Path) -> None:
    lm = attnviz.load(name)
    run, captured = experiment_of(lm)
    off = switches.parse(OFF[name]) or ()
    answer = run.reader
    effects, lead = run.effects(to="mean"), run.reader.lead
    leads = None if lead is None else run.with_measure(lead).effects(to="mean")
    result = run.with_changes(*parse(OFF[name]), draws=DRAWS).choices
    shown = PageContext(lang, captured, captured.groups[0])
    titles = [
        group_title(lang, group) if len(captured.groups) > 1 else "" for group in captured.groups
    ]
    view = switches.SwitchesView(
        model=name,
        groups=fill.switch_groups(shown, titles, effects),
        off=off,
        to="mean",
        answer=fill.ChangedAnswer(
            lang, run.prepared, answer, result, off, effects=effects, leads=leads
        ).view(None),
        effects=fill.effects_sentence(lang, answer, effects),
        effects_unit=fill.effects_unit(answer),
        suggested=str(effects.order[0]),
        suggested_note=fill.most_note(lang, answer, effects),
    )
    wanted, wanted_arrays = unpack(packed(switches.CANVAS, view, lang))
    _, found = asked(
        lm,
        tmp_path,
        lang,
        {"kind": "effects", "model": name, "input": input_of(name), "to": "mean"},
        show(name, ["switches"], input=input_of(name), off=OFF[name], controls=DRAWS),
    )
    header, arrays = unpack(found["views"]["switches"])
    assert_bars_alike(header["answer"].pop("bars"), wanted["answer"].pop("bars"))
    assert header.pop("most") == pytest.approx(wanted.pop("most"), abs=2e-5)
    assert header == wanted
    for name_, array in wanted_arrays.items():
        assert arrays[name_].shape == array.shape
        if name_.endswith(".visible"):
            assert (arrays[name_] == array).all()
        close = np.abs(arrays[name_].astype(float) - array.astype(float))
        assert close.max() <= (2e-5 if array.dtype == np.float32 else 1)


@pytest.mark.parametrize("draws", [2, 3])
def test_the_worker_says_of_few_draws_what_the_library_says(draws: int, tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    run, _ = experiment_of(lm)
    off = switches.parse("L2.H1.mixed=mean,L0.H0.mixed=mean") or ()
    result = run.with_changes(*(change for each in off for change in parse(str(each))), draws=draws)
    said = fill.ChangedAnswer("en", run.prepared, run.reader, result.choices, off).view(None)
    named = ",".join(map(str, off))
    shown = show("stories", ["switches"], input=input_of("stories"), off=named, controls=draws)
    (found,) = asked(lm, tmp_path, "en", shown)
    header, _ = unpack(found["views"]["switches"])
    assert (header["answer"]["control"], header["answer"]["measured"]) == (
        said.control,
        said.measured,
    )
    assert ("2 random draws" in said.control) == (draws == 2)
    assert ("at most" in said.control) == (draws != 2)


def test_switches_of_an_answer_that_is_no_guess_rank_no_heads(tmp_path: Path) -> None:
    lm, given = attnviz.load("stories"), {"text": "Tom loves his"}
    measure = {"kind": "effects", "model": "stories", "input": given, "to": "mean"}
    shown = show("stories", ["switches"], input=given, off="", controls=0)
    _, found = asked(lm, tmp_path, "en", measure, shown)
    header, arrays = unpack(found["views"]["switches"])
    answer = Experiment(prepare_request(lm, Request.of("Tom loves his"))).reader
    assert header["effects"] == no_guess_sentence("en", answer) and header["suggested"] == ""
    assert np.isfinite(arrays["groups.0.effects"]).all()


@pytest.mark.slow
def test_effects_in_pieces_are_the_whole_ones(tmp_path: Path) -> None:
    request = {"kind": "effects", "model": "stories", "input": input_of("stories"), "to": "mean"}
    pieces = [{**request, "most_ms": 1}] * 20
    whole, *found = asked(attnviz.load("stories"), tmp_path, "en", request, *pieces)
    assert whole["left"] == 0 < found[0]["left"] < 16 and not found[0]["effects"]
    assert whole["effects"] in [piece["effects"] for piece in found]


def assert_bars_alike(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    for bars in (ours, theirs):
        for bar in bars:
            bar["numbers"] = [bar.pop("value"), bar.pop("second") or 0]
    for own, other in zip(ours, theirs, strict=True):
        assert own.pop("numbers") == pytest.approx(other.pop("numbers"), abs=2e-5)
        assert own == other


SENTENCES = (
    "the cat sees a small bird",
    "the big black dog does not see the birds",
    "a red house is on the hill",
    "my sister and my brother eat an apple",
    "eat the the a",  # its translation ends in a space
)
DATES = ("Monday January 12 1948", "3 May 2021", "the 4th of July 1999")


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "texts"), [("translator", SENTENCES), ("dates", DATES)], ids=["translator", "dates"]
)
def test_show_translates_as_the_library(name: str, texts: tuple[str, ...], tmp_path: Path) -> None:
    lm = attnviz.load(name)
    requests = [show(name, [], text=text) for text in texts]
    found = asked(lm, tmp_path, "en", *requests)
    assert [answer["said"]["text"] for answer in found] == [translation(lm, text) for text in texts]


def test_show_aligns_as_the_library(tmp_path: Path) -> None:
    lm = attnviz.load("translator")
    given = input_of("translator")
    aligned = align(lm, attnviz.capture(lm, given["text"], target=TARGET), TARGET)
    assert aligned.probabilities is not None
    view = AlignmentView(
        source=tuple(ShownWord(w.text, w.start, w.special) for w in aligned.source),
        target=tuple(
            ShownWord(word.text, word.start, word.special, float(chance))
            for word, chance in zip(aligned.target, aligned.probabilities, strict=True)
        ),
        weights=aligned.weights,
        stated=Stated(),
        probability=aligned.probability,
    )
    wanted, wanted_arrays = unpack(packed(alignment.CANVAS, view, "en"))
    [found] = asked(lm, tmp_path, "en", show("translator", ["alignment"], input=given))
    header, arrays = unpack(found["views"]["alignment"])
    assert header.pop("probability") == pytest.approx(wanted.pop("probability"), abs=1e-5)
    for own, other in zip(header["target"], wanted["target"], strict=True):
        assert own.pop("probability") == pytest.approx(other.pop("probability"), abs=1e-5)
    assert header == wanted
    apart = np.abs(arrays["weights"].astype(int) - wanted_arrays["weights"].astype(int))
    assert apart.max() <= 16 and (apart > 1).mean() < 1e-2


SAMPLINGS = ((1.0, 0, 1.0), (0.7, 20, 1.0), (1.3, 0, 0.9), (0.5, 7, 0.6), (0.0, 0, 1.0))


@pytest.mark.some(1)
@pytest.mark.parametrize(("temperature", "top_k", "top_p"), SAMPLINGS)
def test_show_ranks_what_is_drawn_as_the_library(
    temperature: float, top_k: int, top_p: float, tmp_path: Path
) -> None:
    lm = attnviz.load("stories")
    capture = attnviz.capture(lm, TEXTS["stories"])
    wanted = ranked(capture, 12, temperature, top_k, top_p)
    sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    views = ["writing", "bars"]
    request = show("stories", views, text=TEXTS["stories"], sampling=sampling)
    [found] = asked(lm, tmp_path, "en", request)
    header, arrays = unpack(found["views"]["writing"])
    draws = header["draws"]
    labels = [
        [*draws["vocabulary"], ""][min(i, len(draws["vocabulary"]))]
        for i in arrays["draws.ids"].ravel()
    ]
    names = [label for row in wanted.ids.tolist() for label in labelled(lm, row)]
    assert labels == names
    assert draws["first"] == wanted.first and draws["n_vocabulary"] == wanted.n_vocabulary
    for name, array in (("before", wanted.before), ("after", wanted.after), ("cut", wanted.cut)):
        np.testing.assert_allclose(arrays[f"draws.{name}"], array, atol=2e-5)
    np.testing.assert_array_equal(arrays["draws.n_left"], wanted.n_left)
    np.testing.assert_array_equal(arrays["draws.rank"], wanted.rank)
    np.testing.assert_array_equal(
        arrays["draws.drawn"], np.where(wanted.drawn < 0, 255, wanted.drawn)
    )
    others = np.stack([wanted.others_before, wanted.others_after], axis=-1)
    np.testing.assert_allclose(arrays["draws.others"], others, atol=2e-5)
    bars, _ = unpack(found["views"]["bars"])
    after = [bar["value"] for bar in bars["bars"]]
    np.testing.assert_allclose(after, wanted.after[-1, :10], atol=2e-5)
    assert sum(after) + bars["rest"]["value"] == pytest.approx(1)


def labelled(lm: LoadedModel, ids: list[int]) -> list[str]:
    known = [token for token in ids if token >= 0]
    names = dict(zip(known, lm.labels_of(known), strict=True))
    return [names.get(token, "") for token in ids]


def test_write_goes_on_greedily_as_the_library(tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    text, count = TEXTS["stories"], 9
    prepared = prepare_request(lm, Request.of(text))
    request = {
        "kind": "write",
        "model": "stories",
        "input": {"text": text},
        "sampling": {"temperature": 0, "top_k": 0, "top_p": 1},
        "seed": 0,
    }
    changed = OFF["stories"]
    found = asked(
        lm,
        tmp_path,
        "en",
        request | {"tokens": count, "off": ""},
        request | {"tokens": count, "off": changed},
        show("stories", ["switches"], text=text, off=changed, writes=count),
    )
    wanted = [continued(prepared, changes, count) for changes in ((), parse(changed))]
    assert [answer["text"] for answer in found[:2]] == wanted
    header, _ = unpack(found[2]["views"]["switches"])
    assert [written for _, written in header["answer"]["written"]] == wanted


@pytest.mark.slow
def test_write_draws_the_same_tokens_of_a_seed_in_any_parts(tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    request = {
        "kind": "write",
        "model": "stories",
        "off": "",
        "sampling": {"temperature": 1.2, "top_k": 40, "top_p": 0.95},
    }
    text = "Anna has a"

    def write(tokens: int, seed: int, written: list[int]) -> dict[str, Any]:
        given = {"text": text, "written": written}
        return request | {"input": given, "tokens": tokens, "seed": seed}

    [whole, other, first] = asked(
        lm, tmp_path, "en", write(12, 5, []), write(12, 6, []), write(4, 5, [])
    )
    [rest] = asked(lm, tmp_path, "en", write(8, 5, first["written"]))
    assert rest["written"] == whole["written"] != other["written"]


@pytest.mark.slow
def test_show_marks_what_was_written(tmp_path: Path) -> None:
    lm = attnviz.load("stories")
    text, count = "Anna has a red", 6
    capture = attnviz.capture(lm, text, generate=count)
    ids = capture.tokens.ids.tolist()
    n_given = len(ids) - capture.n_generated
    request = show("stories", ["head"], input={"text": text, "written": ids[n_given:]})
    [found] = asked(lm, tmp_path, "en", request)
    captured = AppCapture.alone(capture, lm)
    shown = PageContext("en", captured, captured.groups[0])
    view = head_views.head_view(shown, measure(shown.group))
    wanted, _ = unpack(packed(head.CANVAS, view, "en"))
    header, _ = unpack(found["views"]["head"])
    assert header == wanted and sum(header["written"]) == capture.n_generated == count - 1


@pytest.mark.some(1)
@pytest.mark.parametrize("side", [48, 31, 200])
def test_show_reads_a_picture_as_the_library(side: int, tmp_path: Path) -> None:
    lm = attnviz.load("shapes")
    sample = Image.fromarray(shapes.sample(5).picture()).resize((side, side + 3), Image.NEAREST)
    picture = np.asarray(sample)
    capture = attnviz.capture(lm, image=picture)
    captured = AppCapture.alone(capture, lm, seen_picture(lm, picture))
    shown = PageContext("en", captured, captured.groups[0])
    measured = measure(shown.group)
    wanted, wanted_arrays = unpack(
        packed(patches.CANVAS, head_views.all_heads(shown, measured), "en")
    )
    sent = {"rows": side + 3, "columns": side, "rgb": picture.ravel().tolist()}
    [found] = asked(lm, tmp_path, "en", show("shapes", ["patches"], input={"picture": sent}))
    header, arrays = unpack(found["views"]["patches"])
    assert header == wanted
    np.testing.assert_array_equal(arrays["patches.picture"], wanted_arrays["patches.picture"])
    chances = classes(lm, capture)
    said = {choice["name"]: choice["value"] for choice in found["said"]["top"]}
    assert list(said) == [chances.names[place] for place in chances.order[:5]]
    for place in chances.order[:5]:
        assert said[chances.names[place]] == pytest.approx(chances.probabilities[place], abs=1e-5)
