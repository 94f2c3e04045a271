"""The plan of one run: a model's inputs, and what is known of its tokens before it runs.

In: what the planners made of a request. Out: a frozen `Plan`, which `attnviz.capture.run` executes
and `attnviz.capture.token_names` completes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from attnviz.types import Stack, Tokens

TokensByStack = dict[Stack | None, tuple[Tokens, ...]]


@dataclass(frozen=True)
class FrameTimes:
    """The times of a sound's frames that are known before the model runs, in seconds.

    `heard_s` counts the silence that an extractor adds behind the `sound_s` of the sound itself;
    `steps_s` are the distances that two frames may have.
    """

    heard_s: float
    sound_s: float
    steps_s: tuple[float, ...]


@dataclass(frozen=True)
class Plan:
    """The model's inputs on its device, and the tokens that are known before it runs.

    `inputs` are tensors, and single options such as `interpolate_pos_encoding`. `times` are those
    of a sound. `n_written` of the decoder's tokens were written by the model while it was planned.
    """

    inputs: Mapping[str, object]
    tokens: TokensByStack = field(default_factory=dict)
    times: FrameTimes | None = None
    n_written: int = 0

    def tensor(self, name: str) -> Tensor | None:
        """The input tensor of a name; None if there is none."""
        value = self.inputs.get(name)
        return value if isinstance(value, Tensor) else None

    @property
    def n_input(self) -> int:
        """The number of texts, pictures or sounds that go in."""
        tensors = [value for value in self.inputs.values() if isinstance(value, Tensor)]
        first = self.tensor("input_ids")
        first = tensors[0] if first is None and tensors else first
        return len(first) if first is not None and first.dim() else 1
