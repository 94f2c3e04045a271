"""The life of one softmax in `ThreadTrace`: what docs/capture.md tells is what happens.

Each module of `LIVES` ends another way. What a trace does is read off before and after each of its
operations: which softmaxes are open, which attention waits for its order, what is reported.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import attnviz
from attnviz.capture.record import gaps
from attnviz.capture.record.trace import ThreadTrace
from attnviz.errors import UnsupportedAttention
from tests.contracts import project

N_HEADS, D_HEAD, N_TOKEN = 3, 5, 7
WIDTH = N_HEADS * D_HEAD
# the reasons by the names of their constants
REASONS = {
    text: name for name, text in vars(gaps).items() if name.isupper() and isinstance(text, str)
}
SECTION = "## The life of one softmax"


class Attention(nn.Module):
    """Attention in its own code; `between` comes between the layers and the heads."""

    def __init__(self, *, between: Callable[[Tensor], Tensor], out: bool, declared: bool) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH) if out else nn.Identity()
        self.between = between
        if declared:
            self.num_heads = N_HEADS

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (self._heads(layer(x)) for layer in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(-1, -2) * D_HEAD**-0.5, dim=-1)
        mixed = self.weigh(weights, v)
        return self.out(mixed.transpose(1, 2).reshape(1, N_TOKEN, WIDTH))

    def _heads(self, x: Tensor) -> Tensor:
        return self.between(x).reshape(1, N_TOKEN, N_HEADS, D_HEAD).transpose(1, 2)

    def weigh(self, weights: Tensor, v: Tensor) -> Tensor:
        """weights·V."""
        return weights @ v


class Squaring(Attention):
    """Attention that changes its weights before they multiply the values."""

    def weigh(self, weights: Tensor, v: Tensor) -> Tensor:
        """Weights² · V."""
        return weights.square() @ v


def same(x: Tensor) -> Tensor:
    """What a layer wrote, unchanged."""
    return x


def bent(x: Tensor) -> Tensor:
    """Numbers that no layer wrote."""
    return x.tanh()


LIVES: dict[str, Callable[[], nn.Module]] = {
    "v is what a layer wrote": lambda: Attention(between=same, out=True, declared=True),
    "a layer reads weights·V": lambda: Attention(between=bent, out=True, declared=False),
    "the module says num_heads": lambda: Attention(between=bent, out=False, declared=True),
    "nothing shows the order": lambda: Attention(between=bent, out=False, declared=False),
    "the weights are changed": lambda: Squaring(between=same, out=True, declared=True),
}


class Diary:
    """The lines of a life: what happened to softmaxes after each operation that changed one."""

    def __init__(self, model: nn.Module) -> None:
        self.lines: list[str] = []
        self._names = {id(module): name or "attention" for name, module in model.named_modules()}
        self._events: list[str] = []

    def note(self, event: str) -> None:
        """Keep an event until the operation that brought it is over."""
        self._events.append(event)

    def end(self, operation: str, module: nn.Module | None) -> None:
        """Write the line of an operation, if anything happened."""
        where = "" if module is None else self._names[id(module)]
        if self._events:
            self.lines.append(f"{operation:<10} {where:<10} {', '.join(self._events)}".rstrip())
        self._events = []


@contextmanager
def diary_of(model: nn.Module, patch: pytest.MonkeyPatch) -> Iterator[Diary]:
    """The diary of what is recorded meanwhile."""
    diary = Diary(model)
    add, finish, init = ThreadTrace.add, ThreadTrace.finish, ThreadTrace.__init__

    def begin(trace: ThreadTrace, parameters: Any, report: Any, refuse: Any, tell: Any) -> None:
        def reported(seen: Any) -> None:
            diary.note(f"reported with {seen.inputs.n_heads} heads")
            report(seen)

        def refused(module: nn.Module, reason: str) -> None:
            diary.note(f"refused: {REASONS[reason]}")
            refuse(module, reason)

        init(trace, parameters, reported, refused, tell)

    def watched(
        trace: ThreadTrace, step: Callable[[], None], name: str, module: nn.Module | None
    ) -> None:
        n_open, waiting = len(trace._softmaxes), trace._undecided
        faults = sum(softmax.fault is not None for softmax in trace._softmaxes.values())
        step()
        if len(trace._softmaxes) > n_open:
            diary.note("open")
        if sum(softmax.fault is not None for softmax in trace._softmaxes.values()) > faults:
            diary.note("multiplied, but not as it is")
        if trace._undecided is not waiting and trace._undecided is not None:
            diary.note("multiplied, waiting for its order")
        diary.end(name, module)

    def added(
        trace: ThreadTrace, func: Any, args: Any, kwargs: Any, out: Any, stack: Any, **more: Any
    ) -> None:
        name = str(func).split(".")[1]
        watched(trace, lambda: add(trace, func, args, kwargs, out, stack, **more), name, stack[-1])

    patch.setattr(ThreadTrace, "__init__", begin)
    patch.setattr(ThreadTrace, "add", added)
    patch.setattr(
        ThreadTrace, "finish", lambda trace: watched(trace, lambda: finish(trace), "(end)", None)
    )
    yield diary


def life(model: nn.Module, patch: pytest.MonkeyPatch) -> str:
    """What happens to the softmax of a module while it is recorded."""
    torch.manual_seed(5)
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    with diary_of(model, patch) as diary, torch.no_grad():
        try:
            with attnviz.record(model.eval()):
                model(torch.randn(1, N_TOKEN, WIDTH))
        except UnsupportedAttention:
            diary.lines.append("(record raises UnsupportedAttention)")
    return "\n".join(diary.lines)


@pytest.mark.parametrize("name", LIVES)
def test_the_life_of_a_softmax_is_as_it_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    section = project.docs()["docs/capture.md"].split(SECTION)[1].split("\n## ")[0]
    told = re.search(rf"# {re.escape(name)}\n(.*?)(?=\n\n|\n```)", section, re.DOTALL)
    lived = life(LIVES[name](), monkeypatch)
    assert told is not None and told[1] == lived, f"the life is\n{lived}"


def test_every_life_is_told_and_no_other() -> None:
    section = project.docs()["docs/capture.md"].split(SECTION)[1].split("\n## ")[0]
    assert re.findall(r"^# (.+)$", section, re.MULTILINE) == list(LIVES)
