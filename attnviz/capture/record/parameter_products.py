"""Products with a parameter that are W_Q, W_K, W_V or W_O where no linear layer of the model is.

So a model is written that keeps W_Q of each head as a tensor, `q = x @ self.w_q[head]`, or those of
all heads as one, `einsum("btd,hdk->bthk", x, self.W_Q) + self.b_Q`. In: the products that ran
before and after an attention, with what they read and wrote. Out: projections as those of layers
are, under the parameter's name. The heads have to be blocks of what a product wrote, number by
number, or all that it read, and rows that it read have to lead to what it wrote.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations

import torch
from torch import Tensor, nn

from attnviz.attention.projection import ParameterProduct, Projection, WrittenLayer
from attnviz.capture.locate.layers import storage_of
from attnviz.capture.locate.projections_by_memory import (
    NOT_CONSUMED,
    SEVERAL_READERS,
    AwaitedOutput,
    leads_to_output,
)
from attnviz.capture.record.head_layout import HeadLayout, blocks_of
from attnviz.capture.record.operations import LayerRun

MOST_AXES = 4  # of a parameter that is told by its numbers
NOT_LED = "it is further from the product with {name}, and its bias, than one rounding explains"


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
                written = rows.written.clone()  # the model may add to it in place
                found[name] = Product(rows.read, written, run.weight, run.bias, rows.starts)
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
    for name, product in (products(missing) if missing else {}).items():
        parameter = _parameter_of(product.weight, modules)
        if parameter is None:
            continue  # computed from parameters, whose product is no single one's
        projection = _projection(product, parameter)
        if projection is None:
            absent[name] = NOT_LED.format(name=parameter.name)
            continue
        projections[name] = projection
        del absent[name]
        if name == "q":
            absent.pop("x", None)


@dataclass(eq=False)
class _Readers:
    """An attention's output [batch, token, head, d_value], and the products that read it.

    `module` is the name of the one that attends.
    """

    module: str
    awaited: AwaitedOutput
    runs: list[LayerRun] = field(default_factory=list)
    _n_thin: int = 0

    def take(self, module: str, run: LayerRun) -> bool:
        """Keep a product that reads all heads side by side; False for any other.

        With a bias added, it takes the place of itself without. A product inside another module is
        a part of that, and what only is a part of W_O says nothing of it.
        """
        for place, own in enumerate(self.runs):
            if own.read is run.read:
                self.runs[place] = _with_copy(run)
                return True
        output = self.awaited.output
        is_around = not module or f"{self.module}.".startswith(f"{module}.")
        if not is_around or run.read.numel() != output.numel():
            return False
        rows = output.flatten(2).flatten(0, 1)
        is_read = run.read.shape == rows.shape and torch.equal(run.read, rows.to(run.read.dtype))
        if is_read:
            self.runs.append(_with_copy(run))
        return is_read

    def thin(self) -> None:
        """Keep samples of the rows of a long text; called when no bias follows any more."""
        step, n_batch = self.awaited.row_step, len(self.awaited.output)

        def some(rows: Tensor) -> Tensor:
            return rows.reshape(n_batch, -1, rows.shape[-1])[:, ::step].flatten(0, 1).clone()

        for place in range(self._n_thin, len(self.runs) if step > 1 else 0):
            run = self.runs[place]
            self.runs[place] = replace(run, read=some(run.read), written=some(run.written))
            self._n_thin += 1


def _with_copy(run: LayerRun) -> LayerRun:
    """The product with a copy of what it wrote: the model may add to it in place."""
    return replace(run, written=run.written.clone())


class ProductReaders:
    """The products with parameters that read the outputs of attention in code of a model's own."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self._all: list[_Readers] = []

    def await_output(self, module: nn.Module, awaited: AwaitedOutput) -> None:
        """Notice what reads the output of a module's attention from now on."""
        self._all.append(_Readers(self._names.get(id(module), ""), awaited))

    def forget(self, projections: dict[str, Projection]) -> None:
        """Forget the call that has these projections: it is taken back."""
        self._all = [one for one in self._all if one.awaited.projections is not projections]

    def exchange(self, changed: AwaitedOutput) -> None:
        """Notice what reads the changed output of a call in place of its own."""
        for one in self._all:
            if one.awaited.projections is changed.projections:
                one.awaited = changed

    def take(self, run: LayerRun) -> None:
        """Keep a product that ran with the newest output that it reads."""
        for one in self._all:
            if one.runs and one.runs[-1].read is not run.read:
                one.thin()
        name = self._names.get(id(run.module))
        if name is not None:
            any(one.take(name, run) for one in reversed(self._all))

    def settle(self, modules: Mapping[str, nn.Module]) -> None:
        """Take the one product that read an output as W_O, where no module did."""
        for one in self._all:
            awaited = one.awaited
            if one.runs and awaited.absent.get("projected") == NOT_CONSUMED:
                self._take_reader(one, modules)
        self._all.clear()

    def _take_reader(self, one: _Readers, modules: Mapping[str, nn.Module]) -> None:
        one.thin()
        awaited, output = one.awaited, one.awaited.output
        weights = [run.weight for run in one.runs]
        found = [None if w is None else _parameter_of(w, modules) for w in weights]
        if len(found) > 1:
            names = dict.fromkeys(
                parameter.name if parameter else "a product" for parameter in found
            )
            awaited.absent["projected"] = SEVERAL_READERS.format(names=" and ".join(names))
            return
        (run,), (weight,), (parameter,) = one.runs, weights, found
        if weight is None or parameter is None:
            return
        read, written = (x.reshape(len(output), -1, x.shape[-1]) for x in (run.read, run.written))
        starts = tuple(range(0, read.shape[-1], output.shape[3]))
        projection = _projection(Product(read, written, weight, run.bias, starts), parameter)
        if projection is None:
            awaited.absent["projected"] = NOT_LED.format(name=parameter.name)
        else:
            awaited.projections["out"] = projection
            del awaited.absent["projected"]


@dataclass(frozen=True, eq=False)
class _Parameter:
    """A parameter's dotted name and a view of it whose axes, joined to two, are a matrix."""

    name: str
    view: Tensor


def _projection(product: Product, parameter: _Parameter) -> Projection | None:
    """A product as a projection; None unless rows that it read lead to what it wrote.

    The matrix is put together from the parameter when it is asked for: no copy of it is kept.
    """
    layer = WrittenLayer(product.weight, product.bias)
    made = Projection(parameter.name, layer, product.read, product.written, product.starts)
    if not leads_to_output(made):
        return None
    bring = partial(_brought, parameter.view, product.weight.shape, product.bias)
    return replace(made, layer=ParameterProduct(bring))


def _brought(view: Tensor, size: torch.Size, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
    return view.reshape(size), bias


def _parameter_of(weight: Tensor, modules: Mapping[str, nn.Module]) -> _Parameter | None:
    """The parameter that a product's matrix [d_in, d_out] lies in.

    Or the one whose numbers it has in another order, as `einsum` copies them; None if none has, or
    several.
    """
    named = {
        f"{name}.{own}" if name else own: parameter.detach()
        for name, module in modules.items()
        for own, parameter in module._parameters.items()
        if type(parameter) is nn.Parameter and parameter.layout is torch.strided
    }
    memory = storage_of(weight)
    for name, parameter in named.items():
        if storage_of(parameter) == memory:
            return _Parameter(name, weight)
    views = {name: _reordered(parameter, weight) for name, parameter in named.items()}
    alike = [_Parameter(name, view) for name, view in views.items() if view is not None]
    is_one = len({storage_of(parameter.view) for parameter in alike}) == 1  # of several names
    return alike[0] if is_one else None


def _reordered(parameter: Tensor, weight: Tensor) -> Tensor | None:
    """A parameter with its axes in another order, in which, joined to two, they are a matrix."""
    if parameter.numel() != weight.numel() or parameter.dim() > MOST_AXES:
        return None
    for order in permutations(range(parameter.dim())):
        view = parameter.permute(order)
        for n_row_axes in range(1, parameter.dim()):
            if math.prod(view.shape[:n_row_axes]) == weight.shape[0]:
                first = view[(0,) * n_row_axes].flatten()  # tells nearly all of them
                if torch.equal(first, weight[0]) and torch.equal(
                    view.reshape(weight.shape), weight
                ):
                    return view
    return None
