"""Registered models that all tests of a process share, loaded when one is first asked for.

A test that loads `stories` anew pays a third of a second for what stays the same: reading, checking
and building it, and recording the corpus that its ablations refer to. Captures, effects and edits
promise to leave a model as it was, so it is shared, and that promise is held against every file of
tests: a model that was changed fails the file's last test. A test that means to change a model, or
is about loading itself, takes the fixture `own_models`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from torch import nn

from attnviz.models import loader
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.registry import Entry
from tests.support.waiting import expect_true

State = dict[str, object]


class SharedModels:
    """The models by their entries, each with the state that it was loaded in."""

    def __init__(self, load: Callable[..., LoadedModel]) -> None:
        self._load = load
        self._kept: dict[tuple[int, Any], tuple[Entry, LoadedModel, State]] = {}
        self.on = True

    def __call__(self, entry: Entry, settings: Any, *, local: bool) -> LoadedModel:
        if not self.on:
            return self._load(entry, settings, local=local)
        key = (id(entry), settings)  # a registry that a test made up has entries of its own
        if key not in self._kept:
            loaded = self._load(entry, settings, local=local)
            self._kept[key] = (entry, loaded, state_of(loaded))
        return self._kept[key][1]

    def changed(self) -> dict[str, list[str]]:
        """By name, what stays other than it was loaded of models; these are forgotten.

        A page's job that still runs has hooks on its model: it is given time to end.
        """
        found = {
            key: parts for key, (_, lm, state) in self._kept.items() if (parts := _stays(lm, state))
        }
        return {self._kept.pop(key)[0].card.name: parts for key, parts in found.items()}


def _stays(lm: LoadedModel, state: State) -> list[str]:
    """What of a model is other than in this state, and stays so when jobs of pages have ended."""
    try:
        expect_true(lambda: state_of(lm) == state)
    except AssertionError:
        now = state_of(lm)
        return [f"{name}: {now[name]}" for name in state if now[name] != state[name]]
    return []


def state_of(lm: LoadedModel) -> State:
    """What a test could leave changed in a model: weights, our hooks, mode, patched methods, texts.

    A job of a page may still run: it holds the model's lock while its hooks are there. The hooks
    that transformers adds when it is first asked for attentions, and keeps, are not ours.
    """
    with lm.lock:
        return _state_of(lm)


def _state_of(lm: LoadedModel) -> State:
    modules = list(lm.model.modules())
    tokenizer = lm.tokenizer
    return {
        "weights": [(each.data_ptr(), each._version) for each in lm.model.parameters()],
        "hooks": [_hooks(module) for module in modules],
        "training": [module.training for module in modules],
        "forwards": ["forward" in vars(module) for module in modules],
        "attention": getattr(getattr(lm.model, "config", None), "_attn_implementation", None),
        "padding side": getattr(tokenizer, "padding_side", None),
        "chat template": str(getattr(tokenizer, "chat_template", None)),
        "tokenizer": id(tokenizer),
        "processor": id(lm.processor),
        "card": lm.card,
        "key": lm.key,
        "notice": lm.notice,
    }


def _hooks(module: nn.Module) -> list[str]:
    """The functions of attnviz and of its tests that are called with a module."""
    hooks = (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
    names = [f"{getattr(hook, '__module__', '')}: {hook}" for hook in hooks]
    return [name for name in names if not name.startswith("transformers")]


@contextmanager
def sharing() -> Iterator[SharedModels]:
    """Give out shared models wherever the library loads a registered one."""
    with pytest.MonkeyPatch.context() as patch:
        models = SharedModels(loader._load_registered)
        patch.setattr(loader, "_load_registered", models)
        yield models
