"""Products with a parameter that wrote q, k or v where no linear layer of the model did.

So a model is written that keeps W_Q of each head as a tensor, `q = x @ self.w_q[head]`. In: the
products that ran before an attention, with what they read and wrote. Out: projections as those of
layers are, under the parameter's name. The heads have to be blocks of what a product wrote, number
by number, and rows that it read have to lead to it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.capture.locate.layers import storage_of
from attnviz.capture.locate.projections_by_memory import leads_to_output
from attnviz.capture.record.head_layout import HeadLayout, blocks_of
from attnviz.capture.record.operations import LayerRun


@dataclass(frozen=True, eq=False)
class Product:
    """A product's input and output [batch, token, d], and the first column of each head."""

    read: Tensor
    written: Tensor
    weight: Tensor
    bias: Tensor | None
    starts: tuple[int, ...]


# the products that wrote some of q, k and v
Products = Callable[[Iterable[str]], Mapping[str, Product]]


def products_of(
    runs: Iterable[LayerRun], layout: HeadLayout, tensors: Mapping[str, Tensor]
) -> dict[str, Product]:
    """The products that wrote these of q, k and v [axes, token, d], each as it was used."""
    found = {}
    newest = list(runs)[::-1]
    for name, tensor in tensors.items():
        for run in newest:
            rows = None if run.weight is None else blocks_of(layout, tensor, run.read, run.written)
            if rows is not None and run.weight is not None:
                found[name] = Product(rows.read, rows.written, run.weight, run.bias, rows.starts)
                break
    return found


def add_products(
    products: Products,
    modules: Mapping[str, nn.Module],
    projections: dict[str, Projection],
    absent: dict[str, str],
) -> None:
    """Add the products that wrote those of q, k and v of which no layer was found."""
    missing = [name for name in ("q", "k", "v") if name in absent]
    found = products(missing) if missing else {}
    names = _parameters(modules) if found else {}
    for name, product in found.items():
        parameter = names.get(storage_of(product.weight))
        if parameter is None:
            continue  # computed from parameters, whose product is no single one's
        layer = WrittenLayer(product.weight, product.bias)
        projection = Projection(
            parameter, layer, product.read, product.written.clone(), product.starts
        )
        if leads_to_output(projection):
            projections[name] = projection
            del absent[name]
            if name == "q":
                absent.pop("x", None)


def _parameters(modules: Mapping[str, nn.Module]) -> dict[int, str]:
    """The dotted name of each parameter, by its memory."""
    return {
        storage_of(parameter): f"{name}.{own}" if name else own
        for name, module in modules.items()
        for own, parameter in module._parameters.items()
        if parameter is not None
    }
