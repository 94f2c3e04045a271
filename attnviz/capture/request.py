"""The input of a model and the text to generate: a frozen `Request`, checked when it is created.

In: the arguments of `attnviz.capture`. Out: a `Request` of one kind, in which every argument that
was given has a meaning, and a `key` that names all that determines the model's answer. Nothing here
imports torch: a request can be made, compared and cached before any model is loaded.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

from numpy.typing import ArrayLike
from PIL import Image

from attnviz.audio.sound import Sound
from attnviz.capture import arguments
from attnviz.capture.arguments import Picture
from attnviz.capture.generation.settings import Generation, as_generation
from attnviz.errors import BadInput

RequestKind = Literal["text", "image", "text-image", "sound", "inputs", "example"]
# what a request reads, and the kind that follows from it
KINDS: dict[tuple[str, ...], RequestKind] = {
    (): "example",
    ("text",): "text",
    ("image",): "image",
    ("text", "image"): "text-image",
    ("sound",): "sound",
    ("inputs",): "inputs",
}
# the further arguments that each kind has a use for
USED: dict[RequestKind, tuple[str, ...]] = {
    "text": ("text_pair", "target", "generate", "cut", "chat"),
    "image": (),
    "text-image": ("generate", "cut", "chat"),
    "sound": ("target", "generate", "cut"),
    "inputs": ("generate",),
    "example": (),
}
NOT_IN_A_MESSAGE = ("text_pair", "target")
LONGEST_KEY = 2000


Text = str | Sequence[str]


@dataclass(frozen=True, eq=False)
class Request:
    """The input of a model and what it is to generate; created by `Request.of`.

    `text`, `text_pair` and `target` have one entry for each row of the batch, or none. `image` has
    pictures in RGB. `inputs` are ready inputs by the name of the model's argument. Two requests are
    equal if their keys are.
    """

    text: tuple[str, ...] = ()
    text_pair: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    image: tuple[Image.Image, ...] = ()
    sound: Sound | None = None
    inputs: Mapping[str, object] | None = None
    generation: Generation | None = None
    cut: bool = False
    chat: bool = False

    @classmethod
    def of(
        cls,
        text: Text | None = None,
        text_pair: Text | None = None,
        *,
        target: Text | None = None,
        image: Picture | Sequence[Picture] | None = None,
        sound: Sound | str | Path | None = None,
        inputs: Mapping[str, ArrayLike | None] | None = None,
        generate: int | Generation = 0,
        cut: bool = False,
        chat: bool = False,
    ) -> "Request":
        """The request with these arguments, in any form that `attnviz.capture` describes.

        Raises `BadInput` for an argument that cannot be read, and for arguments that do not go
        together, each by its name.
        """
        return cls(
            text=() if text is None else arguments.as_texts(text, "text"),
            text_pair=() if text_pair is None else arguments.as_texts(text_pair, "text_pair"),
            target=() if target is None else arguments.as_texts(target, "target"),
            image=() if image is None else arguments.as_pictures(image),
            sound=None if sound is None else arguments.as_sound(sound),
            inputs=None if inputs is None else arguments.as_inputs(inputs),
            generation=as_generation(generate),
            cut=bool(cut),
            chat=bool(chat),
        )

    def __post_init__(self) -> None:
        names = tuple(self._given())
        sources = tuple(name for name in ("text", "image", "sound", "inputs") if name in names)
        if sources not in KINDS:
            raise _conflict(
                names,
                f"{_listed(sources)} do not go together: give one of text=, image=, sound= and"
                " inputs=, or text= with image=",
            )
        kind = KINDS[sources]
        used = [name for name in USED[kind] if not (self.chat and name in NOT_IN_A_MESSAGE)]
        unused = [name for name in names if name not in (*sources, *used)]
        if unused:
            raise _conflict(names, _refusal(unused, sources, used, self.chat and "chat" in used))
        self._require_rows("text_pair")
        self._require_rows("target")
        if self.sound is not None:
            self._require_transcript()

    def _given(self) -> Iterator[str]:
        """The names of the arguments that are not as if left out."""
        for name in ("text", "text_pair", "target", "image", "cut", "chat"):
            if getattr(self, name):
                yield name
        for name, value in (("sound", self.sound), ("inputs", self.inputs)):
            if value is not None:
                yield name
        if self.generation is not None:
            yield "generate"

    def _require_rows(self, name: str) -> None:
        """Raise `BadInput` unless the texts of an argument are as many as those of `text`."""
        n_row, n = len(self.text) or 1, len(getattr(self, name))
        if n not in (0, n_row):
            raise BadInput(
                f"{'text' if self.text else 'sound'} has {n_row} entries and {name} {n}; give one"
                " for each",
                code="pair_count",
                name=name,
                texts=n_row,
                pairs=n,
            )

    def _require_transcript(self) -> None:
        """Raise `BadInput` for settings that matter only to a transcript that is not there."""
        if self.cut and not self.target:
            raise _conflict(
                ("sound", "cut"), "cut= shortens a target=, and none is given with sound="
            )
        if self.generation is not None and not self.generation.is_plain:
            raise _conflict(
                ("sound", "generate"),
                f"a model writes what it hears greedily; with sound= give generate="
                f"{self.generation.n_tokens}, without beams or a temperature",
            )

    def first_row(self) -> "Request":
        """The request of the first row alone, with nothing to generate."""
        return replace(
            self,
            text=self.text[:1],
            text_pair=self.text_pair[:1],
            target=self.target[:1],
            image=self.image[:1],
            generation=None,
        )

    @property
    def kind(self) -> RequestKind:
        """The kind of input that the model reads."""
        names = tuple(self._given())
        return KINDS[tuple(name for name in ("text", "image", "sound", "inputs") if name in names)]

    @cached_property
    def key(self) -> str:
        """A string that is the same for two requests only if a model answers both alike.

        Pictures, sounds and inputs stand in it as their sha256; a long key is a sha256 itself.
        """
        parts: dict[str, object] = {
            "text": self.text,
            "text_pair": self.text_pair,
            "target": self.target,
            "image": [arguments.picture_digest(picture) for picture in self.image],
            "sound": None if self.sound is None else self.sound.digest,
            "inputs": None
            if self.inputs is None
            else {name: arguments.input_digest(self.inputs[name]) for name in sorted(self.inputs)},
            "generate": None if self.generation is None else asdict(self.generation),
            "cut": self.cut,
            "chat": self.chat,
        }
        names = set(self._given())
        written = json.dumps({name: part for name, part in parts.items() if name in names})
        if len(written) <= LONGEST_KEY:
            return written
        return f"sha256:{sha256(written.encode()).hexdigest()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _refusal(unused: list[str], sources: tuple[str, ...], used: list[str], chat: bool) -> str:
    """A sentence that names the arguments without a use, and those that would have one."""
    if not sources:
        return f"{_listed(unused)} needs something to read: give text=, image=, sound= or inputs="
    what = f"a message ({_listed((*sources, 'chat'))})" if chat else _listed(sources)
    allowed = [name for name in used if name != "chat"] if chat else used
    takes = f"takes {_listed(allowed)}" if allowed else "takes no further argument"
    verb = "does" if len(unused) == 1 else "do"
    return f"{_listed(unused)} {verb} not go with {what}, which {takes}"


def _listed(names: Sequence[str]) -> str:
    """The names of arguments, joined with commas and "and"."""
    signs = [f"{name}=" for name in names]
    return " and ".join(filter(None, (", ".join(signs[:-1]), signs[-1])))


def _conflict(names: tuple[str, ...], reason: str) -> BadInput:
    return BadInput(
        f"capture() cannot use its arguments: {reason}",
        code="what_to_capture",
        found=", ".join(f"{name}=" for name in names),
    )
