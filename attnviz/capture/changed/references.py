"""The texts or pictures over which a head's usual output is recorded, where nobody gives others.

In: a loaded model. Out: a `Reference`. An embedded model gets examples of the world that it learned
from, held out or drawn from a seed of their own; another text model gets the same generated
English, another model of pictures the generated pictures. What needs something else is refused.
"""

import random
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import cases, dates, shapes

N_EXAMPLES = 50
# training, checks and samples draw from other seeds
SEED = 940_000
PIXELS = 64


# "texts" are a caller's own
ReferenceKind = Literal["stories", "reviews", "pictures", "sentences", "dates", "example", "texts"]


@dataclass(frozen=True, eq=False)
class Reference:
    """The inputs to run: texts, perhaps with targets; pictures; or the model's example."""

    kind: ReferenceKind
    name: str
    texts: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    pictures: tuple[np.ndarray, ...] = ()

    @property
    def n(self) -> int:
        """The number of texts or pictures."""
        return len(self.texts) or len(self.pictures) or 1


def reference_of(lm: LoadedModel) -> Reference:
    """The reference of a model; `BadInput` where none is at hand."""
    if lm.example is not None:
        return Reference("example", f"the inputs that come with {lm.name}")
    if lm.name in PAIRED:
        return PAIRED[lm.name]()
    if lm.name == "sentiment":
        texts = tuple(review.text for review in cases.reviews("sentiment/reviews")[:N_EXAMPLES])
        return Reference("reviews", f"{N_EXAMPLES} generated reviews", texts)
    if lm.kind == "vision":
        scenes = (shapes.sample(SEED + number) for number in range(N_EXAMPLES))
        pictures = tuple(scene.picture(PIXELS) for scene in scenes)
        return Reference("pictures", f"{N_EXAMPLES} generated pictures", pictures=pictures)
    if lm.tokenizer is not None and lm.kind in ("encoder", "decoder"):
        return Reference(
            "stories",
            f"{N_EXAMPLES} generated stories",
            cases.texts("stories/documents")[:N_EXAMPLES],
        )
    reads = "give corpus=, a list of texts, or" if lm.tokenizer is not None else "it reads no text:"
    raise BadInput(
        f"{lm.name} has no reference texts to take a mean over: {reads} take heads away with"
        ' to="zero"',
        code="no_reference",
        name=lm.name,
    )


def _translations() -> Reference:
    pairs = cases.aligned_pairs("translator/sentences")[:N_EXAMPLES]
    english, french = tuple(pair.source for pair in pairs), tuple(pair.target for pair in pairs)
    return Reference("sentences", f"{N_EXAMPLES} generated sentences", english, french)


def _dates() -> Reference:
    draws = random.Random(SEED)
    pairs = [dates.draw(draws) for _ in range(N_EXAMPLES)]
    texts, written = tuple(pair.text for pair in pairs), tuple(pair.iso for pair in pairs)
    return Reference("dates", f"{N_EXAMPLES} generated dates", texts, written)


PAIRED = {"translator": _translations, "dates": _dates}
