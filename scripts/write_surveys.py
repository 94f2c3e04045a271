"""Write the surveys that come with attnviz: `python -m scripts.write_surveys BOOK [MODEL ...]`.

In: the book of `scripts.write_tales`, and the grammars of scripts/train/worlds with seeds that
training never uses. Out: attnviz/corpus/embedded/<model>.npz, each a survey of `N` texts, and the
sha256 of the weights that were counted. The same book gives the same files.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import attnviz
from attnviz.corpus import embedded
from attnviz.corpus.archive import survey_bytes
from attnviz.corpus.result import compact
from attnviz.models.registry import REGISTRY, EmbeddedModel, PackagedModel
from scripts import write_tales
from scripts.train.cases import REVIEWS_SEED, STORIES_SEED
from scripts.train.worlds.sentiment.reviews import reviews
from scripts.train.worlds.stories import stories

N = 2000  # texts
LEVEL = 9  # of the compression


def tales(book: str) -> list[str]:
    """Sentences of the book, those of attnviz.corpus.samples among them."""
    return write_tales.sentences(book, N)


def generated_stories(_book: str) -> list[str]:
    """Held-out stories, those of the set "stories/documents" first."""
    return list(stories.documents(STORIES_SEED, N))


def generated_reviews(_book: str) -> list[str]:
    """Held-out reviews, those of the set "sentiment/reviews" first."""
    return [review.text for review in reviews(REVIEWS_SEED, N)]


TEXTS: dict[str, Callable[[str], list[str]]] = {
    "minilm": tales,
    "stories": generated_stories,
    "stories-llama": generated_stories,
    "sentiment": generated_reviews,
}


def main() -> None:
    book = Path(sys.argv[1]).read_text(encoding="utf-8")
    for name in sys.argv[2:] or TEXTS:
        survey = compact(attnviz.survey(name, TEXTS[name](book)))
        content = survey_bytes(survey, LEVEL)
        embedded.path_of(name).write_bytes(content)
        print(f"{survey!r}: {len(content) / 1e6:.2f} MB")
    entries = {name: REGISTRY[name] for name in TEXTS}
    weights = {
        name: entry.sha256
        for name, entry in entries.items()
        if isinstance(entry, EmbeddedModel | PackagedModel)
    }
    embedded.WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
