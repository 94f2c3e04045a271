"""A capture with what every page says about it, and the part of it that one run of a page shows.

`Captured` is kept by the app's cache under a key that names all that determined it. `Shown` is the
context of one page run: everything that is drawn is made from it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import UInt8

from attnviz.audio.sound import Sound
from attnviz.i18n import Language
from attnviz.views.groups import Group

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.models.loaded import LoadedModel


@dataclass(frozen=True, eq=False)
class Captured:
    """A capture and what every page says about it. `key` names all that determined it.

    `asked` is how many tokens the model was to write, `picture` what a vision model saw, `sound`
    what a speech model heard.
    """

    key: str
    name: str
    model: "LoadedModel"
    capture: "Capture"
    error: float
    tolerance: float
    groups: tuple[Group, ...]
    asked: int = 0
    picture: UInt8[np.ndarray, "row column rgb"] | None = None
    sound: Sound | None = None

    @property
    def verified(self) -> bool:
        """True if our numbers agree with the model's; NaN never does."""
        return self.error <= self.tolerance


@dataclass(frozen=True, eq=False)
class Shown:
    """What one run of a page shows: one group of a capture's attentions, in a language."""

    lang: Language
    captured: Captured
    group: Group

    @property
    def key(self) -> str:
        """The key of what is derived from the capture and the group, in any language."""
        return f"{self.captured.key} {self.group.shown}"
