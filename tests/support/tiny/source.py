"""What inputs are made from: the model's config, its forward's arguments, a random generator."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

BATCH, TEXT, TEXT_REAL, TARGET, TARGET_REAL = 2, 11, 8, 7, 5
SAMPLES, SAMPLES_REAL, FRAMES, FRAMES_REAL = 4000, 2600, 80, 56
Inputs = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Source:
    """What inputs are made from: the model, its config, one random generator."""

    model: PreTrainedModel
    generator: torch.Generator

    @property
    def config(self) -> PreTrainedConfig:
        return self.model.config

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(type(self.model).forward).parameters)

    @cached_property
    def configs(self) -> list[PreTrainedConfig]:
        """The config and every config below it."""
        return list(_tree(self.config))

    def find(self, *names: str, default: Any = None, below: str = "") -> Any:
        """The first of these fields found in the config or (breadth first) below it."""
        order = sorted(self.configs, key=lambda one: below not in type(one).__name__.lower())
        for config in order:
            for name in names:
                value = _plain(config, name)
                if value is not None:
                    return value
        return default

    @cached_property
    def patch_dim(self) -> int | None:
        """How many numbers one flat picture patch has: what the patch embedding takes."""
        for name, module in self.model.named_modules():
            if "patch" in name and isinstance(module, (nn.Linear, nn.Conv2d, nn.Conv3d)):
                return module.weight[0].numel()
        return None

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.generator)


def _plain(config: PreTrainedConfig, name: str) -> Any:
    try:
        return getattr(config, name, None)
    except RuntimeError:  # a field that differs by layer
        return config._getattr_without_heterogeneous_validation(name, None)


def _tree(config: PreTrainedConfig) -> Iterator[PreTrainedConfig]:
    level = [config]
    while level:
        yield from level
        level = [
            below
            for one in level
            for below in vars(one).values()
            if isinstance(below, PreTrainedConfig)
        ]


def padding(length: int, real: int) -> Tensor:
    """An attention mask of two rows, the second padded on the right."""
    mask = torch.ones(BATCH, length, dtype=torch.long)
    mask[1, real:] = 0
    return mask


def text_ids(source: Source, length: int = TEXT, real: int = TEXT_REAL) -> Tensor:
    """Token ids that are no special token; the padding token on the right of the second row."""
    sizes = [_plain(config, "vocab_size") for config in source.configs]
    vocabulary = min((size for size in sizes if isinstance(size, int) and size > 8), default=64)
    special = {
        value
        for config in source.configs
        for name, value in vars(config).items()
        if "token" in name and isinstance(value, int)
    }
    allowed = [token for token in range(4, vocabulary) if token not in special]
    ids = torch.tensor(allowed)[source.integers(0, len(allowed), BATCH, length)]
    pad = source.find("pad_token_id")
    ids[1, real:] = pad if isinstance(pad, int) and 0 <= pad < vocabulary else 0
    return ids
