"""The surveys that come with attnviz belong to the models that come with it."""

import time
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import attnviz
from attnviz import BadInput
from attnviz.corpus.archive import survey_bytes
from attnviz.corpus.embedded import counted_weights, embedded_survey, path_of
from attnviz.corpus.result import Survey, compact
from attnviz.corpus.survey import survey_at_once
from attnviz.models.registry import REGISTRY, EmbeddedModel, PackagedModel
from attnviz.types import MEASURES
from scripts import write_surveys

NAMES = ("minilm", "stories", "stories-llama", "sentiment")
MAX_MB, MAX_TOGETHER_MB, OPENS_S = 0.4, 3.0, 1.0
AGAIN = 4  # texts that are counted again


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def survey(name: str) -> Survey:
    return attnviz.survey(name)


def test_every_embedded_model_that_reads_texts_has_a_small_survey_of_its_weights() -> None:
    weights = {
        name: entry.sha256
        for name, entry in REGISTRY.items()
        if isinstance(entry, EmbeddedModel | PackagedModel)
        and entry.card.kind in ("encoder", "decoder")
    }
    assert counted_weights() == weights and set(weights) == set(NAMES)
    sizes = [path_of(name).stat().st_size / 1e6 for name in NAMES]
    assert max(sizes) <= MAX_MB and sum(sizes) <= MAX_TOGETHER_MB
    for name in NAMES:
        start = time.thread_time()
        assert attnviz.read(path_of(name)).n_text >= 2000
        assert time.thread_time() - start < OPENS_S


@pytest.mark.some(1)
def test_some_texts_counted_again_lie_in_the_bins_that_the_embedded_survey_says(
    name: str, survey: Survey
) -> None:
    tally = survey.tally
    often = np.bincount(tally.example[tally.example >= 0])
    for number in np.argsort(-often, kind="stable")[:AGAIN].tolist():
        again = survey_at_once(attnviz.load(name), [tally.texts[number]])
        stored, counted = (
            np.argwhere((tally.example == number).any(axis=-1)),
            again.tally.histogram.argmax(axis=-1),
        )
        apart = np.abs(counted[stored[:, 0], stored[:, 1]] - stored[:, 2])
        assert len(stored) > len(MEASURES)
        assert apart.max() <= 1 and (apart > 0).mean() < 0.01, "other numbers"


def test_an_embedded_survey_has_roles_tenths_pairs_and_maps(survey: Survey) -> None:
    assert any(survey.roles().roles(row) for row in range(len(survey.heads)))
    for head in (survey.heads[0], survey.heads[-1]):
        tenths = survey.deciles(head, "entropy")
        texts = [text for tenth in tenths for text in tenth.texts]
        assert len(tenths) == 10 and len(texts) == len(set(texts)) >= 10
        pairs, keys = survey.pairs(head), survey.keys(head)
        assert len(pairs) == len(keys) == 10
        assert not [
            pair for pair in pairs if pair.query.startswith("#") and pair.query[1:].isdigit()
        ]
        assert np.nanmax(survey.profile(head)) <= 1 and np.nanmax(survey.mean_map(head)) <= 1.001


def test_survey_without_texts_refuses_what_would_count_and_models_without_one() -> None:
    with pytest.raises(BadInput, match="None with folder="):
        attnviz.survey("stories", workers=2)
    other = copy(attnviz.load("stories"))
    other.key = replace(other.key, revision="seed-32")
    assert embedded_survey(other) is None, "other weights under the same name"
    other.card = replace(other.card, name="mine")
    with pytest.raises(BadInput, match="mine comes without a survey"):
        attnviz.survey(other)


@pytest.mark.slow
def test_compact_keeps_tables_roles_and_tenths() -> None:
    texts = write_surveys.generated_stories("")[:40]
    whole = attnviz.survey("stories", texts)
    small = compact(whole)
    for name in whole.table().columns:
        assert np.array_equal(
            whole.table()[name], small.table()[name], equal_nan=name not in ("stack", "kind")
        )
    assert [whole.roles().roles(row) for row in range(16)] == [
        small.roles().roles(row) for row in range(16)
    ]
    for head in whole.heads[::5]:
        for measure in MEASURES:
            assert whole.deciles(head, measure) == small.deciles(head, measure)
        assert [pair[:3] for pair in whole.pairs(head)] == [pair[:3] for pair in small.pairs(head)]
        assert [key[:2] for key in whole.keys(head)] == [key[:2] for key in small.keys(head)]
        assert np.allclose(whole.profile(head), small.profile(head), atol=2e-3, equal_nan=True)
        assert np.allclose(whole.mean_map(head), small.mean_map(head), atol=4e-3, equal_nan=True)
    assert len(survey_bytes(small, 9)) < len(survey_bytes(whole, 9)) / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stories", "sentiment"])
def test_the_script_gives_the_embedded_survey_again(name: str) -> None:
    survey = compact(attnviz.survey(name, write_surveys.TEXTS[name]("")))
    stored = attnviz.read(path_of(name))
    assert survey.tally.texts == stored.tally.texts
    for measure in MEASURES:
        mine, theirs = (one.table([measure])[measure] for one in (survey, stored))
        assert np.allclose(mine, theirs, atol=1e-5, equal_nan=True)
