"""The exceptions of attnviz, all in one tree (no torch, no streamlit).

    AttnVizError
    ├── ModelNotFound         no model under this name, or its files cannot be read
    ├── UnsupportedAttention  a call has an argument that the steps do not model
    ├── CaptureMismatch       derived numbers disagree with the model's own
    ├── TooLarge              a text or a model is over a limit
    ├── BadInput              the caller's text, layer or head makes no sense
    ├── BadMask               a mask of the wrong shape or type
    ├── Cancelled             someone asked to stop before the work was done
    └── MissingExtra          an optional package is not installed

A message says what was asked, what was found, what is allowed and what to do. `code` is stable and
`details` holds the values of the message, so that an interface can say it in another language.
"""

import errno
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from operator import index as as_index
from typing import Any, Self, SupportsIndex

from attnviz.summary import shortened

WAYS_TO_WRITE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room on the disk, or give another one"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "give a place that you may write to"),
}


class AttnVizError(Exception):
    """Base of everything that attnviz raises for a cause that its caller can mend."""

    def __init__(self, message: str, *, code: str, **details: str | int) -> None:
        super().__init__(message)
        self.code = code
        self.details: dict[str, str | int] = details

    def __reduce__(self) -> tuple[object, ...]:
        """The error again in another process, with its code and details."""
        return partial(type(self), str(self), code=self.code, **self.details), ()

    def worded(self, before: str, after: str) -> Self:
        """The same error with other words in its message and details."""
        details: dict[str, Any] = {
            name: value.replace(before, after) if isinstance(value, str) else value
            for name, value in self.details.items()
        }
        return type(self)(str(self).replace(before, after), code=self.code, **details)

    def again(self) -> Self:
        """A new error that says the same, to be kept, and to be raised of one that is kept.

        A raised error holds the frames that it came through, and these the models that they used.
        """
        details: dict[str, Any] = self.details
        return type(self)(str(self), code=self.code, **details)


class ModelNotFound(AttnVizError):
    """No model under the name that was asked for, or its files are missing or damaged."""


class UnsupportedAttention(AttnVizError):
    """An attention call has an argument that changes its result and that no step models."""


class CaptureMismatch(AttnVizError):
    """A derived number differs from the model's own by more than the tolerance."""


class TooLarge(AttnVizError):
    """A text or model is over a limit: `found` and `limit` are counted in `unit`."""

    def __init__(self, message: str, *, code: str, found: int, limit: int, unit: str) -> None:
        super().__init__(message, code=code, found=found, limit=limit, unit=unit)
        self.found = found
        self.limit = limit
        self.unit = unit


class BadInput(AttnVizError):
    """A text, layer, head or other argument that makes no sense for this model."""


class BadMask(AttnVizError):
    """A mask whose shape or type does not fit the attention it is laid over."""


class Cancelled(AttnVizError):
    """The work was stopped on request; nothing of it was kept."""


class MissingExtra(AttnVizError):
    """An optional package is needed and not installed; the message names the extra."""


def require_package(package: str, purpose: str, extra: str) -> None:
    """Raise `MissingExtra` unless the package is installed; `purpose` is what needs it."""
    try:
        installed = find_spec(package) is not None
    except ValueError:  # it is known to be missing
        installed = False
    if not installed:
        raise MissingExtra(
            f"{purpose} needs {package}, which is not installed: pip install 'attnviz[{extra}]'",
            code="missing_extra",
            extra=extra,
        )


def require_type(function: str, name: str, value: object, wanted: type, hint: str) -> None:
    """Raise `BadInput` unless `value` is of the wanted type; `hint` says how to get one."""
    if not isinstance(value, wanted):
        found = type(value).__name__
        raise bad_argument(
            f"{function}() takes {wanted.__name__} as {name} and was given {found}; {hint}",
            name=name,
            found=found,
            allowed=wanted.__name__,
        )


def require_callback(progress: object) -> None:
    """Raise `BadInput` unless a function is given that can be told how far the work is."""
    if not callable(progress):
        raise bad_argument(
            f"progress is {progress!r}; give a function that is told how much is done, such as"
            " progress=print",
            name="progress",
            found=repr(progress),
            allowed="a function",
        )


def require_wanted(cancel: threading.Event | None) -> None:
    """Raise `Cancelled` if the work is to stop."""
    if cancel is not None and cancel.is_set():
        raise Cancelled("stopped on request; call again to begin anew", code="cancelled")


def whole(value: SupportsIndex) -> int:
    """The number as an `int`; −1 for what is no whole number."""
    try:
        return as_index(value)
    except TypeError:
        return -1


def require_index(name: str, value: SupportsIndex, count: int) -> int:
    """The number as an `int`; `BadInput` unless it is a whole number from 0 to count − 1."""
    number = whole(value)
    if not 0 <= number < count:
        only = f"there is only {name} 0"
        allowed = only if count == 1 else f"give a whole number from 0 to {count - 1}"
        raise BadInput(
            f"{name} {value!r} does not exist: {allowed}",
            code=f"bad_{name}",
            asked=str(value),
            last=count - 1,
        )
    return number


def require_one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise `BadInput` unless an argument is one of some words."""
    if value not in allowed:
        words = ", ".join(allowed)
        raise bad_argument(
            f"{name} is {shortened(repr(value))}; give one of {words}",
            name=name,
            found=shortened(str(value)),
            allowed=words,
        )


def not_allowed(name: str, found: object, allowed: str) -> BadInput:
    """The error about an argument that cannot be what was found."""
    shown = shortened(str(found))
    return bad_argument(
        f"{name} is {shown}; give {allowed}", name=name, found=shown, allowed=allowed
    )


def bad_argument(message: str, *, name: str, found: str | int, allowed: str | int) -> BadInput:
    """The error about an argument that is none of those that are allowed."""
    return BadInput(message, code="bad_argument", name=name, found=found, allowed=allowed)


def heads_left_out(layer: int, heads: Sequence[int]) -> BadInput:
    """The error about what needs all heads of a layer, of which some alone are kept."""
    kept = names_of_heads(heads)
    return BadInput(
        f"this capture keeps {kept} of layer {layer} alone, and this needs all heads: name one of"
        " them, or capture again with the whole layer in keep=",
        code="heads_left_out",
        layer=layer,
        heads=kept,
    )


def names_of_heads(heads: Sequence[int]) -> str:
    """The names of heads within their layer.

    >>> names_of_heads((1, 4))
    'H1, H4'
    """
    return ", ".join(f"H{head}" for head in heads)


def cannot_write(path: object, error: OSError) -> BadInput:
    """The error about a file that the system did not let us write, with its reason."""
    reason = error.strerror or str(error)
    advice = WAYS_TO_WRITE.get(error.errno or 0, "give a file in a folder that exists")
    return BadInput(
        f"cannot write {path}: {reason}; {advice}",
        code="cannot_write",
        path=str(path),
        reason=reason,
    )


def bad_kind(
    kind: str | None, stack: str | None, present: Iterable[tuple[str, str | None]]
) -> BadInput:
    """The error about a kind of attention or a stack that is not among the present ones."""
    allowed = ", ".join(sorted({f"{of} {one}" if of else one for one, of in present}))
    where = "" if stack is None else f" in stack {stack!r}"
    return BadInput(
        f"no {kind!r} attention{where}; there is {allowed}",
        code="bad_kind",
        kind=str(kind),
        stack=str(stack),
        allowed=allowed,
    )
