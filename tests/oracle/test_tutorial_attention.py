"""`record` on attention as tutorials and papers write it: exact, or refused with the reason."""

import pytest
import torch
from torch import nn

from attnviz.capture.record.recorder import record
from attnviz.errors import UnsupportedAttention
from tests.support import tutorial_attention as tutorials
from tests.support.tutorial_refused import REFUSED, WRONG_AXIS, Learned, OverHeads
from tests.support.unseen_attention import PARTLY, UNSEEN


def made(cls: type[nn.Module]) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(11)
    return cls().eval(), torch.randn(2, 5, tutorials.D)


@pytest.mark.some(8)
@pytest.mark.parametrize("cls", tutorials.EXACT, ids=lambda cls: cls.__name__)
def test_what_attends_is_recorded_exactly(cls: type[nn.Module]) -> None:
    model, x = made(cls)
    with torch.no_grad(), record(model) as calls:
        model(x)
    truths = [part.truth for part in model.modules() if getattr(part, "truth", None) is not None]
    assert len(calls) == len(truths) > 0 and not calls.missing
    for call, truth in zip(calls, truths, strict=True):
        ours = torch.stack([call.weights(batch=batch) for batch in range(call.n_batch)])
        torch.testing.assert_close(ours, truth, atol=1e-6, rtol=0)
        call.verify().require()


@pytest.mark.some(5)
@pytest.mark.parametrize("cls", REFUSED, ids=lambda cls: cls.__name__)
def test_what_is_no_softmax_over_keys_is_refused_and_named(cls: type[nn.Module]) -> None:
    model, x = made(cls)
    with pytest.raises(UnsupportedAttention, match=cls.__name__), torch.no_grad(), record(model):
        model(x)
    beside = nn.Sequential(tutorials.ALiBi(), cls()).eval()
    with torch.no_grad(), record(beside) as calls:
        beside(x)
    assert [call.module for call in calls] == ["0"]
    assert {missing.module for missing in calls.missing} == {"1"}


def test_weights_that_are_a_parameter_are_told_as_such() -> None:
    model, x = made(Learned)
    with pytest.raises(UnsupportedAttention, match="a parameter of the model"), record(model):
        model(x)


@pytest.mark.some(8)
@pytest.mark.parametrize("n_text", [1, 2])
@pytest.mark.parametrize("cls", UNSEEN, ids=lambda cls: cls.__name__)
def test_attention_that_no_product_shows_is_named_alone_and_beside_others(
    cls: type[nn.Module], n_text: int
) -> None:
    model, x = made(cls)
    x = x[:n_text]
    with pytest.raises(UnsupportedAttention, match=cls.__name__), torch.no_grad(), record(model):
        model(x)
    beside = nn.Sequential(tutorials.ALiBi(), cls()).eval()
    with torch.no_grad(), record(beside) as calls:
        beside(x)
    assert [call.module for call in calls] == ["0"]
    assert {missing.module for missing in calls.missing} == {"1"}


@pytest.mark.parametrize("cls", PARTLY, ids=lambda cls: cls.__name__)
def test_the_rest_of_a_module_of_which_a_part_is_recorded_is_named(cls: type[nn.Module]) -> None:
    model, x = made(cls)
    with torch.no_grad(), record(model) as calls:
        model(x)
    assert len(calls) == 1
    assert [missing.module for missing in calls.missing] == [cls.__name__]
    assert "not recorded" in repr(calls[0].verify()) or calls[0].verify().ok


@pytest.mark.parametrize("n_token", [3, 5], ids=["as many as heads", "another number"])
@pytest.mark.parametrize("cls", WRONG_AXIS, ids=lambda cls: cls.__name__)
def test_a_softmax_over_the_wrong_axis_is_told_as_it_is(cls: type[OverHeads], n_token: int) -> None:
    torch.manual_seed(11)
    model, x = cls().eval(), torch.randn(2, n_token, tutorials.D)
    reason = f"its softmax runs over the {WRONG_AXIS[cls]}, not over the keys"
    with pytest.raises(UnsupportedAttention, match=reason), torch.no_grad(), record(model):
        model(x)


def test_classifiers_gates_and_routers_are_not_attention() -> None:
    class Router(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.gate = tutorials.ALiBi(), nn.Linear(tutorials.D, 3)
            self.experts = nn.ModuleList(nn.Linear(tutorials.D, tutorials.D) for _ in range(3))
            self.head = nn.Linear(tutorials.D, 7)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.attention(x)
            gates = self.gate(x).softmax(-1)
            outputs = torch.stack([expert(x) for expert in self.experts], -1)
            return self.head((outputs * gates[..., None, :]).sum(-1)).softmax(-1)

    model = Router().eval()
    with torch.no_grad(), record(model) as calls:
        model(torch.randn(2, 5, tutorials.D))
    assert [call.module for call in calls] == ["attention"] and not calls.missing
