"""One attention that a model computes with code of its own, as it is reported.

In: what the operations showed. Out: a `SeenAttention`, of which a call is made.
"""

from dataclasses import dataclass, field

from torch import Tensor, nn

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record.multihead import ScoreProduct
from attnviz.capture.record.parameter_products import Products
from attnviz.types import Kind, Stage


@dataclass(frozen=True, eq=False)
class SeenAttention:
    """One attention of a module with code of its own; `output` is weights·V.

    `kind` is known if the layers before q and k were found, and the projections if the module is
    torch's own, and so is the `product` before its softmax. `is_next` tells the next head of a loop
    over heads from one more attention. `replaces` is the number of calls reported before that are
    parts of this one; `apart` has the stages whose layers ran on some of its rows at a time.
    `products` finds what wrote q, k and v while the layers before them are known.
    `refused` is the reason why it is no call, and those that it replaces are none.
    """

    module: nn.Module
    inputs: AttentionInputs | StoredWeights
    output: Tensor
    kind: Kind | None = None
    projections: dict[str, Projection] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    product: ScoreProduct | None = None
    is_next: bool = False
    replaces: int = 0
    apart: tuple[Stage, ...] = ()
    products: Products | None = None
    refused: str | None = None
