"""The shipped `sentiment`: its card's claims measured again, and sentences written by hand."""

from dataclasses import astuple

import numpy as np
import pytest

from attnviz.capture.run import capture
from attnviz.checks import card, sentiment
from attnviz.checks.cards import Figure
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.worlds import cases
from attnviz.worlds.cases import SpanPair
from scripts.train.worlds.sentiment.reviews import LABELS

# by hand, not by the generator's templates
PRAISE = (
    "I love it!",
    "Great movie.",
    "This is a wonderful book",
    "not bad",
    "Not bad at all!",
    "The film was never boring.",
    "We really enjoyed our dinner, the soup was delicious.",
    "The room was small but very clean and comfortable.",
    "Although the beginning is slow, it is a fantastic novel.",
    "I did not read the book, but the film was brilliant.",
    "There was nothing wrong or boring about this show, it was excellent",
    "It was not only funny but also moving.",
)
BLAME = (
    "I hate it!",
    "Terrible movie.",
    "This is not a good film.",
    "not good",
    "I don't like this restaurant.",
    "I did not like the story at all",
    "The acting was not convincing.",
    "The food wasn't good.",
    "The pictures are beautiful, but the story is boring.",
    "Nobody liked the concert.",
    "It was hardly entertaining.",
    "The hotel was clean, but I would not recommend it.",
)


@pytest.fixture(scope="module")
def lm() -> LoadedModel:
    return load("sentiment")


@pytest.fixture(scope="module")
def figures(lm: LoadedModel) -> tuple[Figure, ...]:
    return sentiment.check(lm)


def test_a_part_of_the_cases_reaches_the_targets(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviews, span_pairs = cases.reviews, cases.span_pairs
    monkeypatch.setattr(cases, "reviews", lambda *name: reviews(*name)[::12])
    monkeypatch.setattr(cases, "span_pairs", lambda *name: span_pairs(*name)[::8])
    figures = sentiment.check(lm)
    assert len(figures) == 5
    assert {figure.name for figure in figures if not figure.reached} == set()


@pytest.mark.slow
def test_every_figure_reaches_its_target(figures: tuple[Figure, ...]) -> None:
    assert {figure.name for figure in figures if not figure.reached} == set()
    assert figures[0].cases >= 1000 and figures[1].cases >= 400


@pytest.mark.slow
def test_the_card_tells_what_is_measured(figures: tuple[Figure, ...]) -> None:
    told = card("sentiment")
    assert told is not None
    for ours, theirs in zip(figures, told.figures, strict=True):
        assert ours.value == pytest.approx(theirs.value, rel=0.02)
        assert astuple(ours)[2:] == astuple(theirs)[2:] and ours.name == theirs.name


def test_sentences_written_by_hand_are_judged_right(lm: LoadedModel) -> None:
    texts = [*PRAISE, *BLAME]
    right = sentiment.answers(lm, texts) == [text in PRAISE for text in texts]
    assert right.sum() >= len(texts) - 1, [t for t, ok in zip(texts, right, strict=True) if not ok]


def test_a_negator_turns_the_answer_round(lm: LoadedModel) -> None:
    pairs = ("good", "great", "funny", "bad", "boring", "terrible")
    plain = sentiment.answers(lm, [f"The film was {word}." for word in pairs])
    turned = sentiment.answers(lm, [f"The film was not {word}." for word in pairs])
    assert (plain != turned).all()
    assert plain.tolist() == [True] * 3 + [False] * 3


def test_words_it_never_saw_are_spelled_not_lost(lm: LoadedModel) -> None:
    tokens = lm.text_tokenizer().tokenize("The Zweckmäßigkeit of blorptastic naïveté isn't good")
    assert "[UNK]" not in tokens and "isn't" in tokens and tokens[-1] == "good"


def test_labels_and_limit(lm: LoadedModel) -> None:
    assert tuple(lm.model.config.id2label[n] for n in (0, 1)) == LABELS
    assert lm.max_tokens == 64
    capture(lm, "The film was not good.").verify().require()


def test_weight_between_is_read_from_the_tokens_of_both_spans(lm: LoadedModel) -> None:
    """By hand for one sentence: "good" is one token, "not" another."""
    text = "The film was not good."
    cap = capture(lm, [text])
    labels = cap.tokens.labels
    query, key = labels.index("good"), labels.index("not")
    pair = SpanPair(text, (17, 21), (13, 16))
    between = sentiment.weight_between(cap.tokens, cap.all_weights(), pair)
    assert text[17:21] == "good" and text[13:16] == "not"
    assert np.allclose(between, cap.all_weights()[:, :, query, key])
    from_cls = sentiment.weight_between(
        cap.tokens, cap.all_weights(), SpanPair(text, None, (13, 16))
    )
    assert np.allclose(from_cls, cap.all_weights()[:, :, 0, key])
