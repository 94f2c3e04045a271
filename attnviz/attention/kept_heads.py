"""The heads of a call that are kept where not all are (`keep="L2.H1"`).

Heads have their own numbers everywhere; tensors have one row for each head that is kept, and keys
and values one for each key/value head that these share.
"""

from dataclasses import dataclass
from functools import cached_property

from attnviz.errors import BadInput, names_of_heads


@dataclass(frozen=True)
class KeptHeads:
    """The heads `numbers`, in rising order, of a layer with `n_heads`, which share `n_kv_heads`."""

    numbers: tuple[int, ...]
    n_heads: int
    n_kv_heads: int

    @cached_property
    def kv_numbers(self) -> tuple[int, ...]:
        """The key/value heads that the kept heads share."""
        return tuple(dict.fromkeys(map(self.kv_head, self.numbers)))

    @cached_property
    def kv_rows(self) -> tuple[int, ...]:
        """The row of keys and values of each kept head."""
        rows = {head: row for row, head in enumerate(self.kv_numbers)}
        return tuple(rows[self.kv_head(head)] for head in self.numbers)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {head: row for row, head in enumerate(self.numbers)}

    def kv_head(self, head: int) -> int:
        """The key/value head that a head shares."""
        return head // (self.n_heads // self.n_kv_heads)

    def of(self, layer: str) -> tuple[int, ...]:
        """The kept heads of q, or those of k and v."""
        return self.numbers if layer == "q" else self.kv_numbers

    def row(self, head: int) -> int:
        """The row of a head in q; `BadInput` for one that was not kept."""
        if head not in self._rows:
            raise BadInput(
                f"head {head} of this layer is not in this capture, which keeps"
                f" {names_of_heads(self.numbers)} of it; capture again with this head in keep=",
                code="head_left_out",
                head=head,
                heads=names_of_heads(self.numbers),
            )
        return self._rows[head]
