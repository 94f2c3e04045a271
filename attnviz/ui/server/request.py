"""What a model is asked to read and to write: the part of a capture's key that a visitor chose.

In: texts, a target, how much is to be written and how tokens are drawn, digests of a picture or a
sound. Out: a frozen `Request`, and what the library is asked to write.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.i18n import Language, text
from attnviz.types import ModelCard, ModelKind

if TYPE_CHECKING:
    from attnviz.capture.generation.settings import Generation


WRITING: tuple[ModelKind, ...] = ("decoder", "encoder-decoder")


def writes(card: ModelCard) -> bool:
    """Whether a model writes what it is asked to."""
    return card.kind in WRITING or card.writes_of_pictures


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; its repr names all of it."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def said(self, lang: Language) -> str:
        """In words."""
        if self.temperature == 0:
            return text(lang, "sampling.greedy")
        off = text(lang, "sampling.off")
        return text(
            lang,
            "sampling.sampled",
            temperature=f"{self.temperature:g}",
            top_k=self.top_k or off,
            top_p=off if self.top_p == 1 else f"{self.top_p:g}",
            seed=self.seed,
        )


GREEDY = Sampling()


@dataclass(frozen=True)
class Request:
    """What a model is to read, and to write: its repr names all of it. An empty one asks for the
    inputs that a model comes with.

    The model writes one token more than `generate`: its last one is never read, so that it has no
    row and no column.
    """

    texts: tuple[str, ...] = ()
    cut: bool = False
    chat: bool = False
    target: str = ""
    generate: int = 0
    sampling: Sampling = GREEDY
    picture: str = ""
    sound: str = ""

    def writing(self) -> "Generation | int":
        """What the library is asked to write; 0 for nothing."""
        if not self.generate:
            return 0
        from attnviz.capture.generation.settings import Generation

        how = self.sampling
        if not how.temperature:
            return self.generate + 1
        return Generation(
            self.generate + 1,
            temperature=how.temperature,
            top_k=how.top_k,
            top_p=how.top_p,
            seed=how.seed,
        )
