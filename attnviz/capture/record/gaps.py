"""The reasons for which attention is refused, and what ran and was not recorded, by module.

In: what a watch refused, and the modules that ran. Out: the `MissingCall`s of a capture, one for
each module and reason. A module that is named after attention and showed no softmax is named as
well, and so is one that multiplies products without a softmax between them, also beside attention
that is recorded: nothing disappears without a word. Which modules are watched is decided before, by
`locate/own_code.py`; what is attention, while they run, by `_find_values` of `trace.py`.
"""

from collections.abc import Iterable, Mapping

from torch import nn

from attnviz.attention.capture import MissingCall
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import UnsupportedAttention

NO_SOFTMAX = "it ran without a softmax over keys that could be seen, as linear attention does"
LATE_SUM = (
    "it multiplies values with exponentials of its scores that are not divided by their sum, as"
    " code does that takes its keys part by part: no softmax is seen"
)
NOT_ASKED = "it ran without calling the attention function that transformers was told to use"
CHANGED = (
    "its weights are changed between the softmax and the values (mixed, scaled or subtracted), so"
    " that no softmax is what multiplies the values"
)
DROPOUT = (
    "it is in training mode, in which dropout changes the weights at random; call .eval() on the"
    " model first"
)
OTHER_AXIS = "its softmax runs over the {axis}, not over the keys"
NO_VALUES = "no matrix product of its softmax with values was found"
LEARNED = "its weights are a parameter of the model, the same for every input"
GROUPS = "its softmax runs over groups that an index makes, as in graph networks"
COARSE = (
    "its softmax is written with logsumexp in a type so coarse that its rows do not add up to 1"
)
OTHER_VALUES = "its softmax multiplies a second tensor of values, of which nothing is recorded"
STACKED_QUERIES = "its queries hold several heads, one below the other"
QUERIES_IN_PARTS = (
    "it computes its queries in parts, and nothing shows that these are all rows of one tensor,"
    " each once: the places of its queries are not known"
)
RUNS_IN_PARTS = (
    "it ran on some rows of one tensor at a time, and each of its runs numbers its queries from 0"
)
OTHER_KEYS = (
    "it computes its queries in parts that have other keys and values each: nothing shows the"
    " places of both"
)
KEYS_IN_PARTS = (
    "it computes a softmax for each part of its keys and puts the results together: none of them is"
    " that of all keys"
)
ONE_QUERY = (
    "one query stands for all that would be its heads, as in a mixture of layers at each token:"
    " nothing shows which axis the heads are"
)
NO_KEYS = "its weights come from a layer's output alone, not from queries and keys"
NO_ORDER = (
    "no linear layer around it shows which of its axes is the batch and which the heads, and its"
    " modules do not say"
)
LINEAR = "it multiplies its queries with what a softmax over the keys gave: linear attention"
OVERWRITTEN = "the model overwrote its weights, q, k, v or mask in place after it had used them"
OWN_CODE = "the model computes attention with code of its own"
UNKNOWN_STEPS = "between q·kᵀ and its softmax the model does more than scale, add a bias and mask"
NO_ONE_PRODUCT = "no single product gives its scores: several are added up, or there is none"
IN_PARTS = "the model runs this layer on some of the tokens at a time"
# the stages that are missing without each projection
STAGES_OF = {"q": ("q", "x"), "k": ("k",), "v": ("v",), "out": ("projected",)}


def absent_stages(stored: StoredWeights) -> dict[str, str]:
    """The reason for each stage that stored weights do not show."""
    absent = dict.fromkeys((stage for stages in STAGES_OF.values() for stage in stages), OWN_CODE)
    absent |= dict.fromkeys(("scaled", "masked"), UNKNOWN_STEPS)
    if stored.query is None:
        absent |= dict.fromkeys(("q", "k", "scores"), NO_ONE_PRODUCT)
    return absent


class Missing:
    """Collects the calls that are missing while a model is recorded."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.calls: list[MissingCall] = []
        self._names = names
        self._in_training = False
        self._first_error: UnsupportedAttention | None = None

    def add(self, module: nn.Module, reason: str) -> None:
        """Keep a module whose attention was not recorded, with the reason."""
        name = self._names.get(id(module)) or type(module).__name__
        self.add_named(name, f"{type(module).__name__}: {reason}")
        self._in_training |= module.training and "training mode" in reason

    def add_error(self, module: nn.Module, error: UnsupportedAttention) -> None:
        """Keep a module whose attention was refused by an error; it is raised if all is missing."""
        self.add_named(self._names.get(id(module)) or type(module).__name__, str(error))
        self._first_error = self._first_error or error

    def add_named(self, name: str, reason: str) -> None:
        """Keep the dotted name of a module with the reason, once."""
        missing = MissingCall(name, reason)
        if missing not in self.calls:
            self.calls.append(missing)

    def add_unseen(
        self,
        recorded: Iterable[str],
        ran: Iterable[tuple[nn.Module, ...]],
        chained: Iterable[tuple[nn.Module, str]],
    ) -> None:
        """Keep the modules that ran, named after attention or chaining products, without a softmax.

        `recorded` are the modules of all recorded calls; each of `ran` is a module with those
        around it, outermost first, and each of `chained` one with the reason.
        """
        known = {*recorded, *(call.module for call in self.calls)}
        chained = list(chained)
        reasons = {id(module): reason for module, reason in chained}
        for stack in ran:
            own = self._names.get(id(stack[-1]), "")
            around = {self._names.get(id(module), "") for module in stack}
            if not known & around and not any(_is_inside(name, own) for name in known):
                self.add(stack[-1], reasons.get(id(stack[-1]), NO_SOFTMAX))
        for module, reason in chained:
            name = self._names.get(id(module), "") or type(module).__name__
            if name not in {call.module for call in self.calls}:
                self.add(module, reason)

    def add_not_asked(self, recorded: Iterable[str], ran: Iterable[nn.Module]) -> None:
        """Keep the modules of transformers' attention that ran and of which nothing is known."""
        known = {*recorded, *(call.module for call in self.calls)}
        for module in ran:
            name = self._names.get(id(module), "")
            if name in known:
                continue
            if not any(_is_inside(a, name) or _is_inside(name, a) for a in known):
                self.add(module, NOT_ASKED)

    def error(self) -> UnsupportedAttention | None:
        """The error if nothing else was recorded: the first reason; None if nothing is missing."""
        if not self.calls:
            return None
        if self._first_error is not None:
            return self._first_error
        first, n_more = self.calls[0], len(self.calls) - 1
        more = f" ({n_more} more like it)" if n_more else ""
        return UnsupportedAttention(
            f"{first.module}: {first.reason}{more}",
            code="training_mode" if self._in_training else "unknown_attention",
            module=first.module,
        )


def _is_inside(name: str, other: str) -> bool:
    """True if a dotted name is another one or a part of it."""
    return not other or name == other or name.startswith(f"{other}.")
