"""A capture as the app keeps it, and the part of it that one run of a page shows.

The app's cache keeps an `AppCapture` under a key that names all that determined it. Everything
that one page run draws is made from a `PageContext`: a language, a capture, and the group of
attentions that is looked at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import UInt8

from attnviz.audio.sound import Sound
from attnviz.i18n import Language
from attnviz.pictures.group.groups import Group, GroupSize, groups, size_of

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.attention.verification import Verification
    from attnviz.capture.request import Request
    from attnviz.models.loaded_model import LoadedModel


TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Accuracy:
    """The largest difference between our numbers and the model's, and the tolerance for it."""

    error: float
    tolerance: float

    @property
    def ok(self) -> bool:
        """True if our numbers agree with the model's; NaN never does."""
        return self.error <= self.tolerance

    @property
    def doubt(self) -> tuple[bool, float]:
        """A number that grows with the doubt in the capture; NaN is the worst."""
        return self.error != self.error, self.error / max(self.tolerance, TINY)


def accuracy_of(capture: "Capture", check: Callable[[], None] = lambda: None) -> Accuracy:
    """The accuracy of a capture's worst call; NaN where nothing can be compared.

    `check` is called before each call is verified; it may end the work by an error.
    """
    from attnviz.attention.verification import joined

    def verified() -> "Iterator[Verification]":
        for call in capture.calls:
            check()
            yield call.verify()

    worst = joined(verified()).worst
    return Accuracy(worst.error, worst.tolerance) if worst else Accuracy(nan, nan)


@dataclass(frozen=True, eq=False)
class Media:
    """The picture as the model saw it, and the sound that it read, where there is one."""

    picture: UInt8[np.ndarray, "row column rgb"] | None = None
    sound: Sound | None = None


@dataclass(frozen=True, eq=False)
class AppCapture:
    """A capture with what every page says about it.

    `key` names all that determined it; `name` is the model's as it stands in the address.
    `loaded` and `request`, the input that the model ran on, are None where a capture is shown
    without its model, as from a file. `recall` looks the capture up where the app keeps it, or
    makes it anew; it returns None if the file is gone. `check` may end the comparison with the
    model's numbers by an error; it is made when it is first asked for, after the first picture.
    """

    key: str
    name: str
    loaded: "LoadedModel | None"
    capture: "Capture"
    groups: tuple[Group, ...]
    media: Media
    request: "Request | None" = None
    recall: "Callable[[], AppCapture | None] | None" = None
    check: Callable[[], None] = lambda: None

    @classmethod
    def alone(
        cls,
        capture: "Capture",
        loaded: "LoadedModel | None" = None,
        picture: UInt8[np.ndarray, "row column rgb"] | None = None,
    ) -> "AppCapture":
        """A capture that no app keeps, with its model and the picture that it saw, if known."""
        return cls(
            key="",
            name=capture.model.id,
            loaded=loaded,
            capture=capture,
            groups=groups(capture),
            media=Media(picture),
        )

    @cached_property
    def accuracy(self) -> Accuracy:
        """The accuracy of the worst call."""
        return accuracy_of(self.capture, self.check)

    @property
    def model(self) -> "LoadedModel":
        """The model that made the capture, where the caller knows that it is there."""
        assert self.loaded is not None, "a capture that is shown without its model"
        return self.loaded

    @property
    def n_asked(self) -> int:
        """The tokens that the model was asked to generate and to read: the last is never read."""
        generation = None if self.request is None else self.request.generation
        return 0 if generation is None else generation.n_tokens - 1


@dataclass(frozen=True, eq=False)
class PageContext:
    """The context of one page run: one group of a capture's attentions, in a language."""

    lang: Language
    captured: AppCapture
    group: Group

    @property
    def key(self) -> str:
        """The key of what is derived from the capture and the group, in any language."""
        return f"{self.captured.key} {self.group.key}"

    @property
    def size(self) -> GroupSize:
        """The size of the group."""
        return size_of(self.group)

    def of_group(self, group: Group) -> "PageContext":
        """The same run, showing another group of the capture."""
        return replace(self, group=group)
