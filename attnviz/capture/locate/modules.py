"""A model's modules by their dotted names, and what their classes and names alone tell of them.

In: a model. Out: its `Modules`. What was worked out once is kept until a module is exchanged, added
or given another class, so that a short text is not captured for longer than the model reads it.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter, methodcaller
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from torch import nn

Fact = TypeVar("Fact")


class Modules(dict[str, nn.Module]):
    """The modules of a model as they are now, by their dotted names, from the outside inwards.

    `names` has the name of each by its id.
    """

    def __init__(
        self,
        modules: Mapping[str, nn.Module] | Iterable[tuple[str, nn.Module]],
        facts: Any,  # a dictionary, by functions and classes
        names: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(modules)
        self._facts = facts
        own = ((id(module), name) for name, module in self.items())
        self.names: Mapping[int, str] = dict(own) if names is None else names

    def fact(self, work: Callable[["Modules"], Fact]) -> Fact:
        """The result of a function of these modules, which depends on classes and names alone.

        The result holds names and no modules: it is kept beside the model.
        """
        if work not in self._facts:
            self._facts[work] = work(self)
        found: Fact = self._facts[work]
        return found

    def names_alone(self) -> "Modules":
        """The names, with all facts that are known, and without the modules."""
        return Modules({}, MappingProxyType(self._facts), self.names)

    def remember(self, known: object) -> None:
        """Keep something that a pass showed of the modules, one object of its class."""
        self._facts[type(known)] = known

    def remembered(self, cls: type[Fact]) -> Fact | None:
        """The object of a class that was kept; None without one, or if a module is another now."""
        found: Fact | None = self._facts.get(cls)
        return found


_PARTS, _KEYS, _VALUES = attrgetter("_modules"), methodcaller("keys"), methodcaller("values")
_hook_ids = itertools.count(-1, -1)  # torch's own are not negative


class Hooks:
    """Forward hooks on many modules, set and removed together.

    As `register_forward_hook` and `register_forward_pre_hook` set them; these make an object with
    four weak references for each, which takes longer than a layer of a small model runs.
    """

    def __init__(self) -> None:
        self._set: list[tuple[dict[int, Any], int]] = []

    def after(
        self, module: nn.Module, hook: Callable[..., None], *, with_kwargs: bool = False
    ) -> None:
        """Call `hook` with the module, its arguments and its result whenever it has run."""
        self._add(module._forward_hooks, hook, module._forward_hooks_with_kwargs, with_kwargs)

    def before(
        self, module: nn.Module, hook: Callable[..., None], *, with_kwargs: bool = False
    ) -> None:
        """Call `hook` with the module and its arguments before it runs."""
        with_them = module._forward_pre_hooks_with_kwargs
        self._add(module._forward_pre_hooks, hook, with_them, with_kwargs)

    def _add(
        self, hooks: dict[int, Any], hook: object, with_them: dict[int, bool], with_kwargs: bool
    ) -> None:
        number = next(_hook_ids)
        hooks[number] = hook
        self._set.append((hooks, number))
        if with_kwargs:
            with_them[number] = True
            self._set.append((with_them, number))

    def remove(self) -> None:
        """Take all of them away again."""
        for hooks, number in self._set:
            hooks.pop(number, None)
        self._set.clear()


def attribute(module: nn.Module, name: str) -> object:
    """An attribute of a module; None without one, which torch itself takes long to find out."""
    cls: type[Any] = type(module)
    if cls.__getattr__ is not nn.Module.__getattr__ or hasattr(cls, name):
        return getattr(module, name, None)
    for own in (vars(module), module._parameters, module._buffers, module._modules):
        if name in own:
            return own[name]
    return None


class _Walk:
    """A walk through a model: what it met, held weakly, and whether it would meet the same now."""

    def __init__(self, model: nn.Module) -> None:
        modules = _modules_by_name(model)
        self.facts: dict[Callable[..., Any], Any] = {}
        self._names = list(modules)
        self._by_id = {id(module): name for name, module in modules.items()}
        self._met = [ref(module) for module in modules.values()]
        self._found = _found_in(list(modules.values()))

    def again(self) -> Modules | None:
        """The modules, if they are those that were met; None if any of them is another now."""
        modules = [module for reference in self._met if (module := reference()) is not None]
        if len(modules) < len(self._met) or _found_in(modules) != self._found:
            return None
        return Modules(zip(self._names, modules, strict=True), self.facts, self._by_id)


_walks: WeakKeyDictionary[nn.Module, _Walk] = WeakKeyDictionary()


def modules_by_name(model: nn.Module) -> Modules:
    """A model's modules by their dotted names, as `named_modules` gives them."""
    known = _walks.get(model)
    modules = None if known is None else known.again()
    while modules is None:  # another thread may exchange a module meanwhile
        known = _walks[model] = _Walk(model)
        modules = known.again()
    return modules


def last_fact(model: nn.Module, work: Callable[[Modules], Fact]) -> Fact:
    """The result of a function of a model's modules, as they were when they were last asked for.

    For a question right after a pass, whose modules were just looked at.
    """
    known = _walks.get(model)
    if known is None or work not in known.facts:
        return modules_by_name(model).fact(work)
    found: Fact = known.facts[work]
    return found


def _found_in(modules: list[nn.Module]) -> tuple[list[object], ...]:
    """The classes of modules, and the number, names and ids of their parts, one after the other.

    An id belongs to a part for as long as that is met alive. Written for all modules at once, since
    every recording asks; torch.jit keeps parts in no real dictionary.
    """
    parts = list(map(_PARTS, modules))
    names, values = map(_KEYS, parts), map(_VALUES, parts)
    return (
        list(map(type, modules)),
        list(map(len, parts)),
        list(chain.from_iterable(names)),
        list(map(id, chain.from_iterable(values))),
    )


def _modules_by_name(model: nn.Module) -> dict[str, nn.Module]:
    """The modules as `named_modules` gives them.

    That one passes each module up through a generator for every module around it, which takes
    several times as long.
    """
    found: dict[str, nn.Module] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, nn.Module]] = [("", model)]
    while waiting:
        name, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        found[name] = module
        inner = f"{name}." if name else ""
        parts = reversed(list(module._modules.items()))
        waiting += [(inner + key, part) for key, part in parts if part is not None]
    return found


def paths_above(name: str) -> Iterator[str]:
    """The dotted names of the modules around one, the innermost first, without the root's."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
