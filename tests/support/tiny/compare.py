"""Recorded calls against what the reference saw: the same places, the same numbers.

A call of the eager function must be recorded under its module and index; a public attention tensor
must equal some recorded call. Public tensors come in a few layouts: [batch, head, query, key],
heads and batch in one axis, or as some of a call's key columns. What a model calls attentions but
is no weights (rows that do not add up to 1) is noted and not judged. What is not recorded is left
out only if the recorder named as many modules (`calls.missing`); a recorded call that equals
nothing is wrong all the same.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from tests.support.tiny.reference import Reference, Seen
from tests.support.tiny.source import BATCH

TOLERANCE = 1e-4


def outputs_differ(ours: list[Tensor], theirs: list[Tensor]) -> float | None:
    """max |ours − theirs| over the outputs of the unpadded first row; None if nothing compares."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a.shape == b.shape and a.numel()]
    pairs = [(a[:1], b[:1]) if a.dim() > 1 and a.shape[0] == BATCH else (a, b) for a, b in pairs]
    return max((float((a - b).abs().max()) for a, b in pairs), default=None)


class Comparison:
    """Matches recorded calls with what the reference saw, and collects what does not fit."""

    def __init__(self, calls: list[Any]) -> None:
        self.calls = calls
        self.weights: dict[int, Tensor] = {}
        self.compared = 0
        self.used: set[int] = set()
        self.max_difference = 0.0
        self.missing: list[str] = []
        self.wrong: list[str] = []
        self.notes: list[str] = []
        self.left_out: list[str] = []
        self._named = [call.module for call in getattr(calls, "missing", ())]
        self._unmatched: list[tuple[str, str, list[int]]] = []

    def run(self, expected: Reference) -> None:
        """Compare everything; softmax that only Python code shows is judged where it is all."""
        for seen in expected.calls:
            self.named(seen)
        for seen in expected.public:
            if is_weights(seen):
                self.anywhere(seen)
            else:
                self.notes.append(f"{seen.module} {list(seen.weights.shape)} is no weights")
        self._settle()
        told = self.compared
        judged = len(self.missing), len(self.wrong)
        for seen in expected.softmax:
            self.anywhere(seen)
        self._settle()
        if told:
            extra = self.missing[judged[0] :] + self.wrong[judged[1] :]
            self.notes += [f"own code: {one}" for one in extra[:4]]
            del self.missing[judged[0] :], self.wrong[judged[1] :]
        extra = [call for number, call in enumerate(self.calls) if number not in self.used]
        self.notes += [f"only recorded: {call.module}#{call.index}" for call in extra[:4]]

    def of(self, number: int) -> Tensor:
        """The recorded weights of one call, [batch, head, query, key]."""
        if number not in self.weights:
            call = self.calls[number]
            rows = [call.weights(batch=batch) for batch in range(call.n_batch)]
            self.weights[number] = torch.stack(rows)
        return self.weights[number]

    def named(self, seen: Seen) -> None:
        """The call of the same module and index must be there and equal."""
        self.compared += 1
        where = f"{seen.module}#{seen.index}"
        for number, call in enumerate(self.calls):
            if (call.module, call.index) == (seen.module, seen.index):
                self.used.add(number)
                found = difference(self.of(number), seen)
                if found is None:
                    self.wrong.append(f"{where}: {list(self.of(number).shape)} for {shape(seen)}")
                elif not found <= TOLERANCE:
                    self.wrong.append(f"{where} {shape(seen)}: max difference {found:.3g}")
                else:
                    self.max_difference = max(self.max_difference, found)
                return
        match = next(self.equal(seen), None)
        if match is None and any(is_around(name, seen.module) for name in self._named):
            self.left_out.append(where)
        elif match is None:
            self.missing.append(f"{where} {shape(seen)} not recorded")
        else:
            other = self.calls[match[0]]
            self.notes.append(f"{where} recorded as {other.module}#{other.index}")

    def anywhere(self, seen: Seen) -> None:
        """Some recorded call must be equal; one of the same shape that differs counts as wrong."""
        self.compared += 1
        where = f"{seen.module}#{seen.index}"
        match = next(self.equal(seen), None)
        if match is not None:
            self.used.add(match[0])
            self.max_difference = max(self.max_difference, match[1])
            self.label(seen.module, self.calls[match[0]])
            return
        if any(equals_mean(self.of(number), seen) for number in range(len(self.calls))):
            self.notes.append(f"{where} is the mean over the recorded heads")
            return
        near = {
            number: found
            for number in range(len(self.calls))
            if (found := difference(self.of(number), seen)) is not None
        }
        windows = [in_window(self.of(number), seen.weights) for number in range(len(self.calls))]
        for number, window in enumerate(windows):
            found = None if window is None else window_difference(window, seen.weights.float())
            if found is not None and found <= TOLERANCE:
                self.used.add(number)
                self.max_difference = max(self.max_difference, found)
                return
        if near:
            problem = f"{where} {shape(seen)}: nearest call is {min(near.values()):.2g} away"
            self._unmatched.append((where, problem, list(near)))
        elif not self.columns(seen):
            self._unmatched.append((where, f"{where} {shape(seen)} not recorded", []))

    def _settle(self) -> None:
        """Judge what equals no call: left out by name, wrong, or missing without a word."""
        for where, problem, near in self._unmatched:
            is_named = any(is_around(name, where.split("#")[0]) for name in self._named)
            if self.used.issuperset(near) and (is_named or len(self.left_out) < len(self._named)):
                self.left_out.append(where)
            else:
                (self.wrong if near else self.missing).append(problem)
        self._unmatched.clear()

    def equal(self, seen: Seen) -> Iterator[tuple[int, float]]:
        """The recorded calls that equal what was seen, with their difference."""
        for number in range(len(self.calls)):
            found = difference(self.of(number), seen)
            if found is not None and found <= TOLERANCE:
                yield number, found

    def columns(self, seen: Seen) -> bool:
        """True where the first or the last key columns of a recorded call are what was seen, or
        its last rows and columns: what is left where a model cuts off its own prompt."""
        n_query, n_key = seen.weights.shape[-2:]
        for number, call in enumerate(self.calls):
            ours = self.of(number)
            if ours.shape[-1] <= n_key:
                continue
            last = ours[..., -n_key:]
            for part in (ours[..., :n_key], last, last[..., -n_query:, :]):
                found = difference(part, seen)
                if found is not None and found <= TOLERANCE:
                    self.notes.append(f"{seen.module} is a part of {call.module}")
                    return True
        return False

    def label(self, path: str, call: Any) -> None:
        """Note a recorded stack or kind that the public name contradicts."""
        key = path.split(".")[-1]
        if "attentions" not in key or not hasattr(call, "kind"):
            return
        if "cross_attentions" in key and call.kind != "cross":
            self.notes.append(f"label: {path} is {call.module}, kind {call.kind!r}")
        if key.startswith(("encoder_att", "decoder_att")):
            stack = getattr(call, "stack", None)
            if (stack, call.kind) != (key[:7], "self"):
                self.notes.append(f"label: {path} is {call.module}: {call.kind!r} in {stack!r}")


def is_around(name: str, module: str) -> bool:
    """True if a dotted name is that of a module or of one around or inside it."""
    inner, outer = sorted((name, module), key=len, reverse=True)
    return not outer or inner == outer or inner.startswith(f"{outer}.")


def shape(seen: Seen) -> list[int]:
    return list(seen.weights.shape)


def is_weights(seen: Seen) -> bool:
    """True for non-negative numbers whose rows add up to at most 1."""
    rows = seen.weights.float()[~seen.weights.isnan()]
    sums = seen.weights.float().sum(-1)
    sums = sums[~sums.isnan()]
    return bool((rows >= -1e-6).all()) and bool((sums <= 1 + 1e-3).all())


def difference(ours: Tensor, seen: Seen) -> float | None:
    """max |ours − theirs| over the rows that count; None where the shapes differ."""
    theirs = seen.weights.float()
    if theirs.dim() != 4:
        return flat_difference(ours, theirs)
    if ours.shape != theirs.shape:
        if ours.shape[1:] != theirs.shape[1:] or ours.shape[0] != 1:
            return None
        ours = ours.expand_as(theirs)
    rows = (ours - theirs).abs().amax(dim=(1, 3))
    usable = seen.rows & ~theirs.isnan().any(-1).any(1)
    if not bool(usable.any()):
        return float("nan") if bool(theirs.isnan().any()) else 0.0
    return float(rows[usable].max())


def equals_mean(ours: Tensor, seen: Seen) -> bool:
    """True where a model hands out the mean of its heads in every head's place."""
    theirs = seen.weights
    if (
        ours.shape != theirs.shape
        or ours.shape[1] == 1
        or not bool((theirs == theirs[:, :1]).all())
    ):
        return False
    found = difference(ours.mean(1, keepdim=True).expand_as(ours), seen)
    return found is not None and found <= TOLERANCE


def window_difference(ours: Tensor, theirs: Tensor) -> float | None:
    """max |ours − theirs| over the rows that were not set to 0 after the softmax."""
    used = ours.sum(-1) > 0
    return float((ours - theirs).abs().amax(-1)[used].max()) if bool(used.any()) else None


def in_window(ours: Tensor, theirs: Tensor) -> Tensor | None:
    """The recorded weights [batch, head, query, key] of the places around each query, in the order
    of theirs: [batch, head, query, place] or with heads behind queries; None if theirs are not so.
    """
    n_place = theirs.shape[-1]
    if ours.dim() != 4 or theirs.dim() != 4 or not n_place % 2 or ours.shape[2] > ours.shape[3]:
        return None
    side = n_place // 2
    wide = torch.nn.functional.pad(ours, (side, side))
    places = torch.arange(ours.shape[2])[:, None] + torch.arange(n_place)
    found = wide.gather(3, places.expand(*wide.shape[:3], -1))
    n_query = theirs.shape[2]  # a model may cut off the rows that it padded its text with
    windows = (found, found.transpose(1, 2), found[:, :, :n_query])
    return next((window for window in windows if window.shape == theirs.shape), None)


def flat_difference(ours: Tensor, theirs: Tensor) -> float | None:
    """The same for weights that have batch, heads and blocks in another number of axes."""
    if ours.numel() != theirs.numel() or ours.shape[-2:] != theirs.shape[-2:]:
        return None
    found = []
    orders = (theirs, theirs.movedim(2, 1)) if theirs.dim() == 5 else (theirs,)
    for turned in orders:  # blocks after the heads, or before them
        mine, other = (one.reshape(-1, *ours.shape[-2:]) for one in (ours, turned))
        usable = ~other.isnan().any(-1)
        if bool(usable.any()):
            found.append(float((mine - other).abs().amax(-1)[usable].max()))
    return min(found, default=None)
