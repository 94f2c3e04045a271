"""Draw the held-out cases and the word lists that attnviz stores: `python -m scripts.train.cases`.

In: the grammars of scripts/train/worlds, with seeds that training never uses. Out: the JSON lines
of `attnviz.worlds.cases` and the word lists of attnviz/worlds. A test draws all of them again and
compares, so that no case can be chosen by hand. Run it after a change of a grammar, and measure the
cards again.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from attnviz.worlds import cases, french, vocabulary
from attnviz.worlds.cases import Line
from scripts.train.worlds.french import sentences
from scripts.train.worlds.french.spelling import word_spans
from scripts.train.worlds.french.words import english_forms
from scripts.train.worlds.sentiment.reviews import Review, reviews
from scripts.train.worlds.stories import probes, stories

TRANSLATOR_SEED, N_SENTENCES, N_ALIGNED = 90_002, 500, 150
# training draws its text from small seeds and measures its curve with 77,000
STORIES_SEED, N_PROMPTS, N_DOCUMENTS = 910_000, 200, 100
REVIEWS_SEED, CHOOSING_SEED, PAIRS_SEED = 8_000_001, 8_000_002, 8_000_003
N_REVIEWS, N_CHOOSING, N_PAIRS = 1000, 50, 100
FRENCH_WORDS = Path(french.__file__).with_name(french.WORDS_FILE)
STORY_WORDS = FRENCH_WORDS.with_name(vocabulary.STORY_WORDS_FILE)
# that many stories have every word of the grammar; a test finds none more in others
STORIES_WORDS_SEED, N_STORIES = 31, 5_000


def main() -> None:
    for path, text in files():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(text)} characters")


def files() -> Iterator[tuple[Path, str]]:
    """Every stored file with the text that belongs into it."""
    for name, draw in SETS.items():
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in draw())
        yield cases.path(name), "".join(lines)
    for path, words in ((FRENCH_WORDS, english_forms()), (STORY_WORDS, _story_words())):
        yield path, "".join(f"{word}\n" for word in sorted(words))


# --- translator --------------------------------------------------------------------------------


def _sentences() -> Iterator[Line]:
    """Held-out sentences; the first ones with the links of their words."""
    for number, pair in enumerate(_held_out_pairs(TRANSLATOR_SEED, N_SENTENCES)):
        texts = {"source": pair.english, "target": pair.french}
        yield {**texts, "links": links(pair)} if number < N_ALIGNED else texts


def _described() -> Iterator[Line]:
    """Other held-out sentences, for the head that the card names."""
    for pair in _held_out_pairs(TRANSLATOR_SEED + 1, N_ALIGNED):
        yield {"source": pair.english, "target": pair.french, "links": links(pair)}


def _held_out_pairs(seed: int, n: int) -> Iterator[sentences.Pair]:
    rng = random.Random(seed)
    return (sentences.draw(rng, held_out=True) for _ in range(n))


def links(pair: sentences.Pair) -> list[tuple[cases.CharSpan, cases.CharSpan]]:
    """The gold alignment of a pair, as spans of characters."""
    english, target = word_spans(pair.english), word_spans(pair.french)
    return [(english[source], target[to]) for source, to in pair.links]


# --- stories -----------------------------------------------------------------------------------


def _giving() -> Iterator[Line]:
    rng = random.Random(STORIES_SEED)
    return (vars(probes.indirect_object(rng)) for _ in range(N_PROMPTS))


def _antecedents() -> Iterator[Line]:
    rng = random.Random(STORIES_SEED)
    for _ in range(N_PROMPTS):  # one generator draws both sets, one after the other
        probes.indirect_object(rng)
    return (vars(probes.what_it_is(rng)) for _ in range(N_PROMPTS))


def _facts() -> Iterator[Line]:
    return ({"prompt": prompt, "right": right} for prompt, right in probes.facts())


def _documents() -> Iterator[Line]:
    return ({"text": text} for text in stories.documents(STORIES_SEED, N_DOCUMENTS))


def _story_words() -> set[str]:
    texts = stories.documents(STORIES_WORDS_SEED, N_STORIES)
    return {word for text in texts for word in vocabulary.words_of(text)}


# --- sentiment ---------------------------------------------------------------------------------


def _reviews() -> Iterator[Line]:
    for review in reviews(REVIEWS_SEED, N_REVIEWS):
        yield {"text": review.text, "positive": review.positive, "negated": review.negated}


def _negators(seed: int, n: int) -> Iterator[Line]:
    """Reviews with one negator, and their twins."""
    for review in islice(filter(_has_one_negator, reviews(seed, 4 * n)), n):
        assert review.twin is not None
        yield {"negated": _to_negator(review), "twin": _to_negator(review.twin)}


def _has_one_negator(review: Review) -> bool:
    return review.twin is not None and len(review.negators) == 1


def _to_negator(review: Review) -> Line:
    return {"text": review.text, "query": review.judging, "key": review.negators[0]}


def _judging(seed: int, n: int) -> Iterator[Line]:
    """Reviews in which one clause judges."""
    alone = (review for review in reviews(seed, 4 * n) if not review.others)
    for review in islice(alone, n):
        yield {"text": review.text, "query": None, "key": review.judging}


SETS: dict[str, Callable[[], Iterable[Line]]] = {
    "translator/sentences": _sentences,
    "translator/described": _described,
    "stories/giving": _giving,
    "stories/antecedents": _antecedents,
    "stories/facts": _facts,
    "stories/documents": _documents,
    "sentiment/reviews": _reviews,
    "sentiment/negators_choosing": lambda: _negators(CHOOSING_SEED, N_CHOOSING),
    "sentiment/negators": lambda: _negators(PAIRS_SEED, N_PAIRS),
    "sentiment/judging_choosing": lambda: _judging(CHOOSING_SEED, N_CHOOSING),
    "sentiment/judging": lambda: _judging(PAIRS_SEED, N_PAIRS),
}

if __name__ == "__main__":
    main()
