"""The products and softmaxes that a tensor was computed from by elementwise operations.

In: every operation that runs. Out: the numbers of the products and softmaxes that entered a tensor
by operations other than matrix products. A tensor is known by its memory, so views need no care,
and each result replaces what was known of its memory before; of one without memory nothing is
known. `PARAMETER` marks what was computed from the model's parameters alone.
"""

from collections.abc import Iterable

from torch import Tensor

from attnviz.capture.locate.layers import NO_MEMORY, storage_of

PARAMETER = -1
ONLY_PARAMETER = frozenset({PARAMETER})
NOTHING: frozenset[int] = frozenset()
MAX_NUMBERS = 12


class Origins:
    """The origins of the tensors of one thread while a model is recorded."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self._by_memory = dict.fromkeys(map(storage_of, parameters), ONLY_PARAMETER)
        self._by_memory.pop(NO_MEMORY, None)

    def of(self, tensor: Tensor) -> frozenset[int]:
        """The numbers that entered a tensor."""
        return self._by_memory.get(storage_of(tensor), NOTHING)

    def is_parameter(self, tensor: Tensor) -> bool:
        """True for a parameter or a buffer, and for what was computed from such alone."""
        return self.of(tensor) == ONLY_PARAMETER

    def replace(self, tensor: Tensor, numbers: frozenset[int]) -> None:
        """Set what is known of a result."""
        memory = storage_of(tensor)
        if numbers and memory != NO_MEMORY:
            self._by_memory[memory] = numbers
        else:
            self._by_memory.pop(memory, None)

    def pass_on(self, read: Iterable[Tensor], written: Iterable[Tensor]) -> None:
        """Give the results of an operation what entered its arguments."""
        parts = [self.of(tensor) for tensor in read]
        numbers = frozenset().union(*parts)
        if PARAMETER in numbers and any(part != ONLY_PARAMETER for part in parts):
            numbers -= ONLY_PARAMETER
        if len(numbers) > MAX_NUMBERS:
            numbers = frozenset(sorted(numbers)[-MAX_NUMBERS:])
        for tensor in written:
            self.replace(tensor, numbers)
