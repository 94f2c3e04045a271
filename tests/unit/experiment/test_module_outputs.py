"""`module_outputs.answered`: modules that need not run, as this thread and as others see them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnviz.experiment.module_outputs import answered


@pytest.fixture
def model() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))


KNOWN = {"0": torch.ones(2, 4)}
READ = torch.arange(12.0).reshape(3, 4)


def run(model: nn.Module) -> Tensor:
    with torch.no_grad():
        output: Tensor = model(READ)
    return output


def test_only_the_thread_that_asked_is_answered(model: nn.Module) -> None:
    clean = run(model)
    with answered(model, KNOWN, 3), ThreadPoolExecutor(1) as pool:
        own, other = run(model), pool.submit(run, model).result()
    assert other.tolist() == clean.tolist() == run(model).tolist()
    assert own.tolist() == model[1](torch.ones(3, 4)).tolist() != clean.tolist()  # type: ignore[index]


def test_a_forward_that_stood_on_a_module_stands_there_again(model: nn.Module) -> None:
    """Libraries that spread a model over memory put theirs on each module."""
    module, seen = model[0], list[int]()  # type: ignore[index]
    plain = module.forward

    def counted(*args: Any) -> Any:
        seen.append(1)
        return plain(*args)

    module.forward = counted
    with answered(model, KNOWN, 3):
        run(model)
        assert not seen
    assert module.__dict__["forward"] is counted
    run(model)
    assert len(seen) == 1
