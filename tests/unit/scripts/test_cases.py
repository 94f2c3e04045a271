"""The stored held-out cases are those that the grammars draw, and training saw none of them."""

from pathlib import Path

import pytest

from attnviz.worlds import cases, is_held_out
from scripts.train import decoder
from scripts.train import stories as story_recipe
from scripts.train import stories_llama as llama_recipe
from scripts.train.cases import FRENCH_WORDS, SETS, STORIES_SEED, STORY_WORDS, files
from scripts.train.worlds.stories.words import NAMES, kept_back, strangers

TRAINING_SEEDS = {story_recipe.SEED, llama_recipe.SEED, decoder.MEASURE_SEED}


@pytest.fixture(scope="module")
def drawn() -> dict[Path, str]:
    return dict(files())


@pytest.mark.slow
def test_every_stored_file_is_drawn_again(drawn: dict[Path, str]) -> None:
    stored = set(cases.FOLDER.rglob(f"*{cases.SUFFIX}")) | {FRENCH_WORDS, STORY_WORDS}
    assert stored == set(drawn)


@pytest.mark.parametrize("name", SETS)
def test_a_stored_set_is_what_the_grammar_draws(drawn: dict[Path, str], name: str) -> None:
    path = cases.path(name)
    assert path.read_text(encoding="utf-8") == drawn[path]


def test_the_stored_words_are_those_of_the_grammar(drawn: dict[Path, str]) -> None:
    for path in (FRENCH_WORDS, STORY_WORDS):
        assert path.read_text(encoding="utf-8") == drawn[path]


@pytest.mark.parametrize("name", ["translator/sentences", "translator/described"])
def test_sentences_are_held_out_by_their_hash(name: str) -> None:
    pairs = cases.aligned_pairs(name)
    assert len(pairs) >= 150 and all(is_held_out(pair.source) for pair in pairs)


@pytest.mark.parametrize("name", ["translator/sentences", "translator/described"])
def test_links_join_words_to_words(name: str) -> None:
    for pair in cases.aligned_pairs(name):
        for (start, end), (to, last) in pair.links:
            assert pair.source[start:end].strip() and pair.target[to:last].strip()


def test_names_are_pairs_that_training_keeps_apart() -> None:
    for choice in cases.choices("stories/giving"):
        first, second = choice.right.strip(), choice.wrong.strip()
        assert {first, second} <= set(NAMES) and strangers(first, second), choice


def test_candidates_are_pairs_that_training_keeps_apart() -> None:
    for choice in cases.choices("stories/antecedents"):
        pair = choice.right.strip(), choice.wrong.strip()
        assert kept_back(*pair) or kept_back(*reversed(pair)), choice
        assert choice.prompt.endswith("? The")


def test_documents_are_of_a_seed_that_training_never_uses() -> None:
    assert STORIES_SEED not in TRAINING_SEEDS
    assert len(cases.texts("stories/documents")) == 100


def test_spans_of_reviews_stand_on_words() -> None:
    for field in ("negated", "twin"):
        for pair in cases.span_pairs("sentiment/negators", field):
            assert pair.query is not None
            for start, end in (pair.query, pair.key):
                word = pair.text[start:end]
                assert word and word == word.strip()
    assert all(pair.query is None for pair in cases.span_pairs("sentiment/judging"))
