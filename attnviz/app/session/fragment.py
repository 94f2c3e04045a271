"""Fragments that hold no capture: what is shown is kept by its key, and looked up at each run.

In: a function that draws what is shown. Out: the same as a fragment of Streamlit. Streamlit keeps
the arguments of a fragment for as long as its tab is open; a capture holds its model, so that the
memory of the server would follow the number of tabs and not the limits of its caches.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from attnviz.app.session import current, messages
from attnviz.errors import BadInput
from attnviz.pictures.group.app_capture import AppCapture, PageContext

Arguments = ParamSpec("Arguments")


class PageContextKey:
    """A `PageContext` without its capture, and the way to find the capture again."""

    def __init__(self, shown: PageContext) -> None:
        recall = shown.captured.recall
        assert recall is not None, "a capture that no cache of the server keeps"
        self.lang = shown.lang
        self._recall: Callable[[], AppCapture | None] = recall
        self._name, self._window = shown.group.name, shown.group.window

    def shown(self) -> PageContext:
        """The context, with its capture from the caches, or computed again if they let go of it.

        Raises `BadInput` for a capture file that the server does not keep any longer.
        """
        captured = self._recall()
        if captured is None:
            raise BadInput("this server no longer keeps the capture file", code="capture_gone")
        whole = next(group for group in captured.groups if group.name == self._name)
        return PageContext(self.lang, captured, whole.in_window(self._window))


def fragment(
    key: str | None = None, run_every: float | None = None
) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """A decorator that makes a function a fragment; a `PageContext` it takes is kept by key."""

    def decorate(draw: Callable[..., None]) -> Callable[Arguments, None]:
        @st.fragment(key=key, run_every=run_every)
        @wraps(draw)
        def run(*kept: object, **options: object) -> None:
            arguments = None
            with messages.guard(current.language()):
                values = {name: _recalled(option) for name, option in options.items()}
                arguments = [_recalled(argument) for argument in kept]
            if arguments is not None:
                draw(*arguments, **values)

        @wraps(draw)
        def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> None:
            run(*map(_kept, arguments), **{name: _kept(option) for name, option in options.items()})

        return call

    return decorate


def _kept(argument: object) -> object:
    return PageContextKey(argument) if isinstance(argument, PageContext) else argument


def _recalled(argument: object) -> object:
    return argument.shown() if isinstance(argument, PageContextKey) else argument
