"""What is kept of a model's modules from one capture to the next holds while they are the same."""

import gc
from collections.abc import Callable
from weakref import ref

import pytest
import torch
from torch import nn

import attnviz
from attnviz.capture.locate.modules import Modules, attribute, last_fact, modules_by_name


class Block(nn.Module):
    """Two layers and a list."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.more = nn.ModuleList([nn.Linear(2, 2)])


class Other(nn.Linear):
    """Another class of layer."""


def exchange(model: Block) -> None:
    model.first = Other(2, 2)


def exchange_freed(model: Block) -> None:
    del model.first  # the new one may get its address
    gc.collect()
    model.first = nn.Linear(2, 2)


def add(model: Block) -> None:
    model.more.append(nn.Linear(2, 2))


def take_away(model: Block) -> None:
    del model.more[0]


def rename(model: Block) -> None:
    model.third = model.first
    del model.first


def become(model: Block) -> None:
    model.second.__class__ = Other


def swap(model: Block) -> None:
    model.first, model.second = model.second, model.first


@pytest.mark.parametrize("change", [exchange, exchange_freed, add, take_away, rename, become, swap])
def test_a_changed_model_is_walked_through_anew(change: Callable[[Block], None]) -> None:
    model = nn.Sequential(Block())

    def classes(modules: Modules) -> dict[str, type]:
        return {name: type(module) for name, module in modules.items()}

    assert modules_by_name(model).fact(classes) == {n: type(m) for n, m in model.named_modules()}
    part = model[0]
    assert isinstance(part, Block)
    change(part)
    modules = modules_by_name(model)
    assert dict(modules) == dict(model.named_modules())
    assert modules.fact(classes) == {name: type(m) for name, m in model.named_modules()}


def test_what_is_known_is_worked_out_once_and_keeps_no_model() -> None:
    model = nn.Sequential(Block(), nn.Linear(2, 2))
    asked = []

    def names(modules: Modules) -> list[str]:
        asked.append(1)
        return list(modules)

    assert modules_by_name(model).fact(names) is modules_by_name(model).fact(names)
    assert len(asked) == 1
    alive = ref(model[0])
    del model
    gc.collect()
    assert alive() is None


def test_an_adapter_that_is_put_around_a_layer_is_found_by_the_next_capture() -> None:
    class Twice(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * self.inner(x)  # type: ignore[no-any-return]

    model = attnviz.load("minilm").model
    ids = {"input_ids": [[5, 6, 7, 8]]}
    before = attnviz.capture(model, inputs=ids).head("L1.H2")["projected"]
    output = model.encoder.layer[1].attention.output
    inner, output.dense = output.dense, Twice(output.dense)
    try:
        cap = attnviz.capture(model, inputs=ids)
    finally:
        output.dense = inner
    assert cap.verify().ok
    after = cap.head("L1.H2")["projected"]
    assert torch.allclose(torch.as_tensor(after), 2 * torch.as_tensor(before), atol=1e-5)


def test_a_part_that_moves_to_the_next_list_is_found_there() -> None:
    model = nn.Sequential(nn.ModuleList([nn.Linear(2, 2)]), nn.ModuleList())
    assert list(modules_by_name(model)) == ["", "0", "0.0", "1"]
    model[1].append(model[0][0])
    del model[0][0]
    assert list(modules_by_name(model)) == ["", "0", "1", "1.0"]


class Wrapper(nn.Module):
    """A module that hands on what it does not have, as adapters do."""

    flag = True

    def __init__(self) -> None:
        super().__init__()
        self.block, self.number = Block(), 3
        self.register_buffer("places", torch.arange(2))

    @property
    def computed(self) -> int:
        """A number that no dictionary has."""
        return self.number + 1


class HandsOn(Wrapper):
    """Looks into its block for what it lacks."""

    def __getattr__(self, name: str) -> object:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("block"), name)


@pytest.mark.parametrize("name", ["flag", "block", "number", "places", "computed", "first", "none"])
@pytest.mark.parametrize("cls", [Wrapper, HandsOn])
def test_an_attribute_is_what_python_gives(cls: type[Wrapper], name: str) -> None:
    module = cls()
    assert attribute(module, name) is getattr(module, name, None)


def test_the_last_fact_is_told_again_without_a_look_at_the_modules() -> None:
    model, asked = Block(), list[int]()

    def count(modules: Modules) -> int:
        asked.append(len(modules))
        return len(modules)

    found = [last_fact(model, count) for _ in range(3)]
    model.more.append(nn.Linear(2, 2))
    assert found == [last_fact(model, count)] * 3 and len(asked) == 1
    modules_by_name(model)  # a pass looks
    assert last_fact(model, count) == found[0] + 1
