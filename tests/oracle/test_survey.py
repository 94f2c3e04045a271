"""A survey against one capture after another, planted heads, and every way to compute it."""

import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz import BadInput, LoadedModel, metrics
from attnviz.attention.batch_weights import all_weights, visible_cells
from attnviz.corpus import shards
from attnviz.corpus.result import Survey
from attnviz.corpus.survey import survey_at_once
from attnviz.corpus.tally import BINS, UPPER, WeightSums, upper_ends
from attnviz.corpus.text_measures import PatternCells, TextBatch, call_measures
from attnviz.corpus.texts import pieces
from attnviz.errors import Cancelled
from attnviz.metrics.measures import SHARES
from attnviz.types import MEASURES

NAMES = ("Lily", "Tom", "Mary", "John", "Ben", "Anna")
TEXTS = [
    f"{one} gave the {thing} to {other}. Then {other} gave the {thing} to {one}."
    for one, other, thing in zip(
        NAMES * 4, NAMES[1:] * 5, ("red ball", "cake", "dog") * 8, strict=False
    )
]


@pytest.fixture(scope="module", params=["minilm", "stories", "stories-llama"])
def lm(request: pytest.FixtureRequest) -> LoadedModel:
    return attnviz.load(request.param)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD", 8)


def alone(lm: LoadedModel, texts: Sequence[str]) -> np.ndarray:
    """Every measure of every head on each text alone: [text, head, measure]."""
    values = []
    for text in texts:
        cap = attnviz.capture(lm, text)
        visible = np.stack([call.visible().numpy() for call in cap.calls])
        by_name = metrics.measured(cap.all_weights(), cap.tokens, visible=visible)
        values.append(np.stack([by_name[name].ravel() for name in MEASURES], axis=-1))
    return np.stack(values)


@pytest.mark.some(1)
def test_means_histograms_and_quantiles_are_those_of_single_captures(lm: LoadedModel) -> None:
    survey = attnviz.survey(lm, TEXTS)
    expected = alone(lm, TEXTS)
    table = survey.table()
    assert len(table) == len(survey.heads) == expected.shape[1]
    for column, name in enumerate(MEASURES):
        with np.errstate(invalid="ignore"):
            known = ~np.isnan(expected[:, :, column]).all(axis=0)
        assert np.isnan(table[name][~known]).all()
        numbers = expected[:, known, column]
        assert np.allclose(table[name][known], np.nanmean(numbers, axis=0), atol=2e-5)
        half = 1.96 * np.nanstd(numbers, axis=0, ddof=1) / np.sqrt((~np.isnan(numbers)).sum(0))
        most = np.inf if name in UPPER else 1.0
        mean = np.nanmean(numbers, axis=0)
        assert np.allclose(table[f"{name}_high"][known], np.minimum(mean + half, most), atol=2e-4)
        assert np.allclose(table[f"{name}_low"][known], np.maximum(mean - half, 0), atol=2e-4)
        assert (table[f"{name}_high"][known] <= most).all()
        assert (table[f"{name}_low"][known] >= 0).all()
    column = MEASURES.index("peak")
    width = upper_ends()[column] / BINS
    bins = np.minimum((expected[:, 0, column] / width).astype(int), BINS - 1)
    assert np.abs(np.bincount(bins, minlength=BINS) - survey.tally.histogram[0, column]).sum() <= 2
    place = survey.quantiles(attnviz.capture(lm, TEXTS[4]).table(["peak", "entropy"]))
    bins = (expected[:, :, column] / width).astype(int)
    below = (bins < bins[4]).mean(axis=0) + (bins == bins[4]).mean(axis=0) / 2
    assert np.allclose(place["peak"], below, atol=0.05) and np.ptp(below) > 0.5


def test_weights_and_masks_of_a_batch_are_those_of_each_text(lm: LoadedModel) -> None:
    cap = attnviz.capture(lm, TEXTS[:2] + ["A dog."])
    for call in cap.calls:
        weights = all_weights(call.inputs)
        visible = visible_cells(call.inputs, weights).expand(3, -1, -1)
        for text in range(3):
            asks = torch.from_numpy(~cap.tokens_of(text).padding)
            assert torch.equal(visible[text][asks], call.visible(text)[asks])
            assert torch.allclose(
                weights[text][:, asks], call.weights(None, text)[:, asks], atol=1e-6
            )


def test_planted_heads_have_their_roles_and_even_attention_has_its_chance() -> None:
    lm = attnviz.load("stories")
    cap = attnviz.capture(lm, TEXTS[:3])
    batch = TextBatch.of(cap)
    n = batch.n_token
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    previous = torch.eye(n).roll(-1, dims=1).tril(-1)
    previous[0, 0] = 1
    even = causal / causal.sum(dim=1, keepdim=True)
    weights = torch.stack([previous, even]).expand(3, -1, -1, -1)
    numbers = call_measures(weights, PatternCells.of(causal.expand(3, -1, -1), batch), batch)
    place = SHARES.index("previous")
    assert np.allclose(numbers.values[:, 0, place], 1)
    real = [int(row.sum()) for row in batch.real]
    chance = [float(np.mean([1 / (q + 1) for q in range(1, size)])) for size in real]
    assert np.allclose(numbers.values[:, 1, place], chance, atol=1e-5)
    assert np.allclose(numbers.even[:, place], chance, atol=1e-5)
    assert (numbers.other_words[:, 0] <= np.nan_to_num(numbers.values[:, 0, [5, 6]]) + 1).all()


def digest(survey: Survey) -> dict[str, bytes]:
    """Every number of a survey as bytes."""
    content: dict[str, bytes] = {}
    for entry in fields(survey.tally):
        value = getattr(survey.tally, entry.name)
        columns = (
            vars(value).values() if isinstance(value, WeightSums) else [np.asarray(str(value))]
        )
        if isinstance(value, np.ndarray):
            columns = [value]
        content[entry.name] = b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
    return content


def test_stopped_resumed_in_parts_and_in_processes_it_is_the_same_to_the_last_bit(
    tmp_path: Path,
) -> None:
    whole = attnviz.survey("stories", TEXTS)

    def stop(n_done: int, n_shard: int) -> None:
        assert n_shard == 3
        if n_done == 1:
            raise Cancelled("stopped", code="cancelled")

    with pytest.raises(Cancelled):
        attnviz.survey("stories", TEXTS, folder=tmp_path / "a", progress=stop)
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "a").iterdir()}
    assert len(files) == 1
    resumed = attnviz.survey("stories", TEXTS, folder=tmp_path / "a")
    assert all(file.stat().st_mtime_ns == before for file, before in files.items())
    for part in ("2/2", "1/2"):
        attnviz.survey("stories", TEXTS, folder=tmp_path / "b", part=part)
    reports: list[tuple[int, int]] = []
    joined = attnviz.survey(
        "stories", TEXTS, folder=tmp_path / "b", progress=lambda *done: reports.append(done)
    )
    assert reports == [(3, 3)], "the parts left nothing to count"
    assert digest(whole) == digest(resumed) == digest(joined)


@pytest.mark.slow
def test_a_killed_worker_costs_only_its_shards(tmp_path: Path) -> None:
    texts = [f"{text} The {number} dogs ran." for number in range(40) for text in TEXTS]
    whole = attnviz.survey("stories", texts)
    for _ in range(2):
        thread = threading.Thread(target=_kill_a_worker, args=(tmp_path,))
        thread.start()
        with pytest.raises(BadInput, match="worker was killed"):
            attnviz.survey("stories", texts, folder=tmp_path, workers=2)
        thread.join()
    assert 0 < len(list(tmp_path.iterdir())) < len(texts) // 8
    assert digest(attnviz.survey("stories", texts, folder=tmp_path, workers=2)) == digest(whole)


def _kill_a_worker(folder: Path) -> None:
    """SIGKILL one process of the pool as soon as two more shards are there."""
    before = len(list(folder.iterdir()))
    while len(list(folder.glob("shard-*"))) < before + 2:
        time.sleep(0.02)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    workers = [
        int(child)
        for child in children
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()
    ]
    os.kill(workers[0], signal.SIGKILL)


@pytest.mark.slow
def test_deciles_name_texts_whose_value_lies_in_them() -> None:
    lm = attnviz.load("stories")
    survey = attnviz.survey(lm, TEXTS)
    values = alone(lm, TEXTS)[:, :, MEASURES.index("previous")]
    head = survey.heads[int(values.std(axis=0).argmax())]
    deciles = survey.deciles(head, "previous")
    assert len(deciles) == 10
    row = survey.heads.index(head)
    for decile in deciles:
        for text in decile.texts:
            assert decile.low - 1e-4 <= values[TEXTS.index(text), row] <= decile.high + 1e-4
    assert deciles[0].low <= values[:, row].min() and values[:, row].max() <= deciles[-1].high


def test_pairs_keys_profile_and_map_count_what_the_heads_of_one_text_do() -> None:
    lm = attnviz.load("stories")
    text = TEXTS[0]
    cap = attnviz.capture(lm, text)
    survey = attnviz.survey(lm, [text])
    head = survey.heads[1]
    weights = cap.weights(head)
    tokens = cap.tokens
    asks = np.flatnonzero(~tokens.special)
    strongest = {(tokens.labels[q], tokens.labels[int(weights[q].argmax())]) for q in asks}
    pairs = survey.pairs(head, n=99)
    assert {(pair.query.strip("␣"), pair.key.strip("␣")) for pair in pairs} == strongest
    columns = weights[asks].sum(axis=0)
    received = [columns[tokens.ids == entry].mean() for entry in np.unique(tokens.ids)]
    keys = survey.keys(head, n=99, least=1)
    assert [key.weight for key in keys] == pytest.approx(sorted(received, reverse=True), abs=1e-4)
    assert sum(key.n for key in keys) == len(tokens)
    one_before = [weights[q, q - 1] for q in asks if q > 0]
    assert survey.profile(head)[31] == pytest.approx(np.mean(one_before), abs=1e-4)
    n = min(len(tokens), 24)
    rows = asks[asks < n]
    assert np.allclose(survey.mean_map(head)[rows][:, :n], weights[rows][:, :n], atol=1e-5)


def test_a_text_that_is_too_long_is_cut_into_pieces_that_fit() -> None:
    lm = attnviz.load("minilm")
    text = "A story of 猫 and dogs, again and again. " * 120
    parts = list(pieces(lm, [text, "short"]))
    assert "".join(parts[:-1]) == text and parts[-1] == "short"
    assert len(parts) > 2
    for part in parts:
        assert len(lm.tokenize(part)["input_ids"]) <= lm.max_tokens


def test_what_does_not_go_together_is_refused_by_name(tmp_path: Path) -> None:
    for options, words in (
        ({"workers": 0}, "workers is 0"),
        ({"engine": "spark"}, "engine is 'spark'"),
        ({"engine": "process", "workers": 2}, "workers is 2"),
        ({"address": "ray://x:1"}, "address is ray"),
        ({"part": "1/2"}, "folder is None"),
        ({"part": "3/2", "folder": tmp_path}, "part is '3/2'"),
    ):
        with pytest.raises(BadInput, match=words):
            attnviz.survey("stories", TEXTS, **options)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="there is nothing to count"):
        attnviz.survey("stories", [" "])
    with pytest.raises(BadInput, match="reads plain texts"):
        attnviz.survey("translator", TEXTS)
    with pytest.raises(BadInput, match="cannot read pictures from Lily gave"):
        attnviz.survey("shapes", TEXTS)
    survey = attnviz.survey("stories", TEXTS[:2])
    with pytest.raises(BadInput, match="the table has 72 heads and the survey 16"):
        survey.quantiles(attnviz.capture("minilm", TEXTS[0]).table())
    with pytest.raises(BadInput, match="no head L9"):
        survey.pairs("L9.H0")
    with pytest.raises(BadInput, match="measure is 'speed'"):
        survey.table(["speed"])
    assert survey.table(["peak"]).measures == ("peak", "peak_low", "peak_high")


@pytest.mark.some(1)
def test_survey_at_once_is_the_survey_and_above_counts_its_texts(lm: LoadedModel) -> None:
    seen: list[tuple[int, int]] = []
    few = TEXTS[:5]
    at_once = survey_at_once(lm, few, lambda *done: seen.append(done))
    assert digest(at_once) == digest(attnviz.survey(lm, few))
    assert seen[-1] == (5, 5)
    column = MEASURES.index("peak")
    peaks = alone(lm, few)[:, 0, column]
    middle = float(np.median(peaks))
    width = upper_ends()[column] / BINS
    expected = sum(int(peak / width) > int(middle / width) for peak in peaks)
    n, total = at_once.above(at_once.heads[0], "peak", middle)
    assert total == 5 and abs(n - expected) <= 1


def test_surveys_are_subtracted_with_intervals() -> None:
    """Means of single captures, and the standard errors of two independent means."""
    lm = attnviz.load("stories")
    one, other = attnviz.survey(lm, TEXTS[:11]), attnviz.survey(lm, TEXTS[11:])
    table = one - other
    left, right = alone(lm, TEXTS[:11]), alone(lm, TEXTS[11:])
    place = MEASURES.index("previous")
    sides = [values[:, :, place] for values in (left, right)]
    difference = sides[0].mean(0) - sides[1].mean(0)
    error = np.sqrt(sum(side.var(0, ddof=1) / len(side) for side in sides))
    assert table["previous"] == pytest.approx(difference, abs=2e-5)
    assert table["previous_low"] == pytest.approx(difference - 1.96 * error, abs=1e-4)
    assert table["previous_high"] == pytest.approx(difference + 1.96 * error, abs=1e-4)
    assert (one - one)["entropy"] == pytest.approx(0)
    with pytest.raises(BadInput, match="matches\\(\\) compares models whose heads differ"):
        one - attnviz.survey("minilm", TEXTS[:3])


def test_a_table_by_text_has_the_rows_of_each_text() -> None:
    cap = attnviz.capture("stories", TEXTS[:3])
    table = cap.table(["previous", "entropy"], by_text=True)
    for text in range(3):
        own = cap.table(["previous", "entropy"], batch=text)
        rows = table["text"] == text
        assert table["previous"][rows] == pytest.approx(own["previous"])
        assert table["entropy"][rows] == pytest.approx(own["entropy"])
    assert len(table) == 3 * 16
