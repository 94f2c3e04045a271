"""The world of `sentiment`: reviews that say where they judge and what turns them round."""

import random
import re
from dataclasses import replace
from functools import cache

import pytest

from scripts.train.worlds.sentiment import reviews
from scripts.train.worlds.sentiment.clauses import NEGATED, NEGATED_FRAGMENTS, NEGATED_PRAISE, PLAIN
from scripts.train.worlds.sentiment.words import ADJECTIVES, NOUNS, QUALITIES, TOPICS, VERBS


@cache
def sampled() -> tuple[reviews.Review, ...]:
    return reviews.reviews(11, 2000)


def words_of(*lists: tuple[str, ...]) -> set[str]:
    return {word for words in lists for word in words}


def test_a_seed_gives_the_same_reviews_always() -> None:
    assert reviews.reviews(5, 20) == reviews.reviews(5, 20)
    assert reviews.reviews(5, 20) != reviews.reviews(6, 20)


def test_half_praise_half_are_negated_and_neither_tells_the_other() -> None:
    for praised in (True, False):
        for negated in (True, False):
            share = sum((r.positive, r.negated) == (praised, negated) for r in sampled()) / 2000
            assert share == pytest.approx(0.25, abs=0.04)


def test_nothing_of_the_markup_is_left() -> None:
    for review in sampled():
        for text in (review.text, review.twin.text if review.twin else ""):
            assert not re.search(r"[\[\]<>{}|]", text), text


def test_the_judging_word_and_the_negators_decide() -> None:
    """A word of praise praises, unless a negator stands in its clause; and the other way round."""
    praise, blame = (
        words_of(ADJECTIVES[side], NOUNS[side], QUALITIES[side], *(v for v in VERBS[side]))
        | words_of(*(topic.adjectives[side] for topic in TOPICS))
        for side in (1, 0)
    )
    judged = 0
    for review in sampled():
        word = review.text[slice(*review.judging)].lower()
        assert word
        if (word in praise) != (word in blame):
            judged += 1
            assert review.positive == ((word in praise) != review.negated), review.text
    assert judged > 1500


def test_a_twin_differs_in_the_negator_and_the_answer_alone() -> None:
    pairs = [(review, review.twin) for review in sampled() if review.twin]
    assert len(pairs) > 600
    for review, twin in pairs:
        assert review.negated and twin.positive != review.positive
        without = [
            "".join(
                text[end:start]
                for (_, end), (start, _) in zip(
                    [(0, 0), *item.negators], [*item.negators, (len(text), 0)], strict=True
                )
            )
            for item, text in ((review, review.text), (twin, twin.text))
        ]
        assert without[0].lower() == without[1].lower()
        assert len(review.text.split()) == len(twin.text.split())
        judging = (review.text[slice(*review.judging)], twin.text[slice(*twin.judging)])
        assert judging[0].lower() == judging[1].lower()


def test_the_other_clauses_agree_or_are_opposed() -> None:
    """What comes before "but" is opposed; each judging word stands where it is said to."""
    with_others = [review for review in sampled() if review.others]
    assert len(with_others) > 600
    words = {word.lower() for review in sampled() for word in [review.text[slice(*review.judging)]]}
    for review in with_others:
        for span, _ in review.others:
            word = review.text[slice(*span)].lower()
            assert re.fullmatch(r"[\w-]+", word) and span != review.judging
    opposed = sum(says != review.positive for review in with_others for _, says in review.others)
    assert opposed / len(with_others) == pytest.approx(0.5, abs=0.06)
    found = {review.text[slice(*review.others[0][0])].lower() for review in with_others}
    assert len(found & words) > 200


def test_negators_that_turn_nothing_are_there_too() -> None:
    texts = [review.text.lower() for review in sampled() if not review.negated]
    assert sum(bool(re.search(r"\b(not|never|no|nothing|without)\b", text)) for text in texts) > 250


@pytest.mark.parametrize("template", [*NEGATED, *NEGATED_PRAISE, *NEGATED_FRAGMENTS])
def test_each_negated_template_marks_a_negator_and_one_judging_word(template: str) -> None:
    assert re.search(r"\[[^]]+\]", template) and template.count("<") == 1


@pytest.mark.parametrize("template", PLAIN)
def test_each_plain_template_marks_a_judging_word_alone(template: str) -> None:
    assert "[" not in template and template.count("<") == 1


def test_articles_fit() -> None:
    texts = " ".join(review.text.lower() for review in sampled())
    assert not re.search(r"\ba (?!uni|use)[aeiou]|\ban (?!hon|hour)[^aeiou]", texts)


def test_a_lengthened_review_says_the_same_later() -> None:
    review = next(review for review in sampled() if review.negated)
    longer = reviews.lengthened(random.Random(1), review)
    assert longer.text.endswith(review.text) and len(longer.text) > len(review.text)
    assert longer.text[slice(*longer.judging)] == review.text[slice(*review.judging)]
    spans = zip(longer.negators, review.negators, strict=True)
    assert all(longer.text[slice(*new)] == review.text[slice(*old)] for new, old in spans)
    kept = replace(longer, text="", judging=(0, 0), negators=(), others=())
    assert kept == reviews.Review("", review.positive, (0, 0))
