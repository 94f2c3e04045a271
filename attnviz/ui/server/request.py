"""The request of a capture: what the model reads and generates, as far as a visitor chose it.

In: texts, a target, how many tokens to generate and how they are sampled, the digest of a picture
or a sound. Out: a frozen `Request`, which is part of a capture's cache key.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.i18n import Language, text
from attnviz.types import ModelCard, ModelKind

if TYPE_CHECKING:
    from attnviz.capture.generation.settings import Generation


GENERATING: tuple[ModelKind, ...] = ("decoder", "encoder-decoder")


def generates(card: ModelCard) -> bool:
    """True if a model continues what it reads for as many tokens as it is asked to."""
    return card.kind in GENERATING or card.writes_of_pictures


@dataclass(frozen=True)
class Sampling:
    """The settings of sampling; temperature 0 is greedy. Its repr is part of a cache key."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def sentence(self, lang: Language) -> str:
        """The settings in words."""
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
    """The input of a model and how many tokens it generates; its repr is part of a cache key.

    An empty request stands for the inputs that a model comes with. The model generates one token
    more than `generate`: its last one is never read, so it has no row and no column.
    """

    texts: tuple[str, ...] = ()
    cut: bool = False
    chat: bool = False
    target: str = ""
    generate: int = 0
    sampling: Sampling = GREEDY
    picture: str = ""
    sound: str = ""

    def generation(self) -> "Generation | int":
        """The `generate` argument of `attnviz.capture`; 0 for none."""
        if not self.generate:
            return 0
        from attnviz.capture.generation.settings import Generation

        sampling = self.sampling
        if not sampling.temperature:
            return self.generate + 1
        return Generation(
            self.generate + 1,
            temperature=sampling.temperature,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            seed=sampling.seed,
        )
