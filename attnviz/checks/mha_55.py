"""The claims of `mha-55`: the numbers of a published article about `nn.MultiheadAttention`.

In: the model with its own X. Out: for both heads' weights, the output, and the first row of
X·[W_Q | W_K | W_V], the largest difference from the printed numbers. They are printed to four
digits, so that rounding explains half of the last digit.
"""

from typing import TYPE_CHECKING

from attnviz.checks.cards import Description, Figure, HeadNote

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float32

    from attnviz.attention.steps import Steps
    from attnviz.models.loaded_model import LoadedModel

PRINTED_TO = 5e-5
Rows = tuple[tuple[float, ...], ...]
WEIGHTS: tuple[Rows, Rows] = (
    (
        (0.0424, 0.2048, 0.3446, 0.2414, 0.1667),
        (0.1729, 0.1644, 0.2146, 0.2448, 0.2033),
        (0.2667, 0.1591, 0.1675, 0.2068, 0.2000),
        (0.0698, 0.2457, 0.3001, 0.2061, 0.1782),
        (0.1792, 0.1710, 0.2114, 0.2354, 0.2030),
    ),
    (
        (0.1456, 0.1290, 0.2313, 0.2845, 0.2096),
        (0.2896, 0.3155, 0.1334, 0.0994, 0.1622),
        (0.2136, 0.3166, 0.1714, 0.1335, 0.1649),
        (0.1254, 0.2581, 0.2383, 0.2125, 0.1655),
        (0.1764, 0.2372, 0.2087, 0.1930, 0.1846),
    ),
)
OUTPUT: Rows = (
    (0.3529, 0.0220, 0.0969, -0.1303),
    (0.4565, 0.1399, 0.0720, 0.1694),
    (0.3354, 0.1571, 0.0336, 0.2145),
    (0.3725, 0.0816, 0.1403, -0.0746),
    (0.3248, 0.0932, 0.0436, 0.0879),
)
# Q1 Q2 K1 K2 V1 V2, two columns each
FIRST_ROW: Rows = (
    (
        *(-1.3839, 0.3560, -0.5477, 0.5145),
        *(1.5560, -0.1749, 1.3026, -0.2896),
        *(1.4396, -0.2397, 0.6415, 1.2935),
    ),
)


def check(lm: "LoadedModel") -> tuple[Figure, ...]:
    """The largest difference from each printed table."""
    import numpy as np

    heads = _heads(lm)
    output = heads[0].projected
    assert output is not None, "W_O of this module is always found"
    row = np.concatenate([getattr(head, name)[0].numpy() for name in "qkv" for head in heads])
    return (
        *(
            _figure(f"weights of head {number}", head.weights.numpy(), WEIGHTS[number])
            for number, head in enumerate(heads)
        ),
        _figure("output", output.numpy(), OUTPUT),
        _figure("first row of X·[W_Q | W_K | W_V]", row[None], FIRST_ROW),
    )


def describe(lm: "LoadedModel") -> Description:
    """The rest of the card."""
    strongest = [float(head.weights.max()) for head in _heads(lm)]
    return Description(
        what="torch's nn.MultiheadAttention(4, 2, bias=False, batch_first=True), untrained",
        data="five rows of four random numbers, from the same seed as the weights",
        languages=(),
        heads=tuple(
            HeadNote(f"L0.H{number}", "its largest weight, of random numbers", score, chance=1 / 5)
            for number, score in enumerate(strongest)
        ),
        limits="random weights: its heads mean nothing; its numbers can be worked by hand",
    )


def _heads(lm: "LoadedModel") -> "list[Steps]":
    """The steps of both heads of the model's one call."""
    from attnviz.attention.steps import derive
    from attnviz.capture.run import capture

    call = capture(lm).calls[0]
    return [derive(call, head) for head in range(call.n_heads)]


def _figure(name: str, measured: "Float32[np.ndarray, '...']", printed: Rows) -> Figure:
    import numpy as np

    difference = float(np.abs(measured - np.array(printed)).max())
    return Figure(
        f"{name}: largest difference from what is printed",
        difference,
        PRINTED_TO,
        at_least=False,
        cases=measured.size,
    )
