"""Two inputs position by position: where their tokens differ, and what cannot be compared.

In: two prepared inputs. Out: the places of the tokens that differ; an error where a token of one
stands at another place in the other, or where the answers are the same.
"""

from difflib import SequenceMatcher

from torch import Tensor

from attnviz.errors import BadInput
from attnviz.experiment.clean_run import CleanRun
from attnviz.summary import shortened

LEAST = 1e-3  # two numbers that are nearer have no difference to carry: rounding is 7e-6
TEXT = "input_ids"
TARGET = "decoder_input_ids"


def differing_places(prepared: CleanRun, source: CleanRun) -> dict[str, tuple[int, ...]]:
    """The places at which the tokens of both differ, by the name of the input.

    Raises `BadInput` unless the tokens stand at the same places.
    """
    _require_same_shapes(prepared, source)
    differing = {}
    for name in (TEXT, TARGET):
        ids, others = prepared.inputs.get(name), source.inputs.get(name)
        if not (isinstance(ids, Tensor) and isinstance(others, Tensor)):
            continue
        own, other = ids[0].tolist(), others[0].tolist()
        places = tuple(
            at for at, pair in enumerate(zip(own, other, strict=True)) if len(set(pair)) > 1
        )
        blocks = SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks()
        if sum(block.size for block in blocks) > len(own) - len(places):
            shifted = next(block for block in blocks if block.size and block.a != block.b)
            raise _shifted(prepared, own[shifted.a], shifted.a, shifted.b)
        if places:
            differing[name] = places
    return differing


def _require_same_shapes(prepared: CleanRun, source: CleanRun) -> None:
    shapes = [
        [(call.module, call.n_query, call.n_key) for call in run.calls]
        for run in (prepared, source)
    ]
    if shapes[0] != shapes[1]:
        raise BadInput(
            f"the two texts have {prepared.n_token} and {source.n_token} tokens, and numbers go"
            " from each token to the one at its place; give two texts with as many tokens",
            code="token_counts",
            found=prepared.n_token,
            wanted=source.n_token,
        )


def _shifted(prepared: CleanRun, token: int, at: int, other: int) -> BadInput:
    label = shortened(prepared.lm.labels_of([token])[0])
    return BadInput(
        f"the tokens of the two texts do not stand at the same places: {label!r} is token {at} of"
        f" one and {other} of the other; give two texts whose differing words have the same number"
        " of tokens",
        code="tokens_shifted",
        token=label,
        at=at,
        other=other,
    )


def require_apart(before: float, wanted: float, unit: str) -> None:
    if not abs(wanted - before) >= LEAST:
        raise BadInput(
            f"the two answers are the same, {before:.4g} and {wanted:.4g} {unit}: there is no"
            " difference that a head could carry; give another measure or another text",
            code="same_answer",
            before=f"{before:.4g}",
            source=f"{wanted:.4g}",
        )
