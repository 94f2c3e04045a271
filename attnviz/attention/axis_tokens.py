"""The tokens along the queries and the keys of a call.

In: the tokens of each stack and a call. Out: its `Tokens`: those of a text, of a window, or of the
blocks of patches that the layer's keys stand for.
"""

from collections.abc import Mapping

from attnviz.attention.call import AttentionCall
from attnviz.errors import bad_argument, require_index
from attnviz.types import Stack, Tokens, named_tokens

TokensByStack = Mapping[Stack | None, tuple[Tokens, ...]]


def stack_tokens(tokens: TokensByStack, stack: Stack | None, batch: int) -> Tokens:
    """The tokens of one row of a stack; of the first stack if this one has none of its own."""
    rows = tokens.get(stack)
    if rows is None:
        rows = next(iter(tokens.values()))
    require_index("batch", batch, len(rows))
    return rows[batch]


def require_stack(stack: str | None, present: list[Stack | None]) -> None:
    """Raise `BadInput` unless `stack` is None or one of these."""
    if stack is not None and stack not in present:
        names = ", ".join(dict.fromkeys(str(name) for name in present if name is not None))
        raise bad_argument(
            f"there is no stack {stack!r}; this capture has {names or 'one without a name: None'}",
            name="stack",
            found=repr(stack),
            allowed=names or "None",
        )


def query_tokens(tokens: TokensByStack, call: AttentionCall, batch: int) -> Tokens:
    """The tokens along a call's queries; those of a window if the batch is made of windows."""
    require_index("batch", batch, call.n_batch)
    if call.query_places is not None:
        return call.query_places.tokens(batch)
    if call.windows is not None:
        return call.windows.tokens(batch % call.windows.count, call.n_query)
    return stack_tokens(tokens, call.stack, batch)


def key_tokens(tokens: TokensByStack, call: AttentionCall, batch: int) -> Tokens:
    """The tokens along a call's keys: another stack's in cross-attention.

    That is the encoder's; in a model without one, the stack with as many tokens as keys.
    """
    require_index("batch", batch, call.n_batch)
    if call.key_places is not None:
        return call.key_places.tokens(batch)
    if call.windows is not None:
        return call.windows.tokens(batch % call.windows.count, call.n_key)
    if call.kind != "cross":
        return stack_tokens(tokens, call.stack, batch)
    if "encoder" in tokens:
        return stack_tokens(tokens, "encoder", batch)
    own, others = call.stack, [stack for stack in tokens if stack != call.stack]
    candidates = [stack_tokens(tokens, stack, batch) for stack in (*others, own)]
    fitting = (candidate for candidate in candidates if len(candidate) == call.n_key)
    return next(fitting, candidates[-1])


def fitting(tokens: Tokens, n_token: int) -> Tokens:
    """The tokens, or numbers if there are not as many tokens as the axis is long."""
    if len(tokens) == n_token:
        return tokens
    return named_tokens(tuple(map(str, range(n_token))))
