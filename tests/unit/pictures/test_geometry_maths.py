"""`attend`, `softmax` and `turned` of geometry/maths.js compute what the library does."""

import numpy as np
import torch

from attnviz.attention import formula
from attnviz.attention.rotary import Rotation
from tests.support.node import in_node, needs_node

N_CASES, MOST = 40, 6
ATTEND = """async (cases) => {
    const { attend, softmax, turned } = await load("geometry/maths.js");
    return cases.map(({ q, keys, values, may, angle }) =>
        ({ ...attend(q, keys, values), masked: softmax(attend(q, keys, values).scaled, may),
           turned: turned(q, angle) }));
}"""


@needs_node
def test_attend_computes_what_formula_computes() -> None:
    rng = np.random.default_rng(11)
    cases = []
    for case in range(N_CASES):
        n, width = 1 + case % MOST, 2
        q, keys, values = (rng.normal(scale=3, size=shape) for shape in (width, (n, width), (n, 3)))
        may = rng.random(n) < 0.7
        cases.append(
            {
                **{"q": q.tolist(), "keys": keys.tolist(), "values": values.tolist()},
                **{"may": may.astype(int).tolist(), "angle": float(rng.normal(scale=4))},
            }
        )
    answers = in_node(ATTEND, cases)
    for case, answer in zip(cases, answers, strict=True):
        q, keys, values = (torch.tensor(case[name]).float() for name in ("q", "keys", "values"))
        scaled = formula.scaled(formula.scores(q[None], keys), 2**-0.5)
        weights = formula.weights(scaled)
        may = torch.tensor(case["may"]).bool()[None]
        masked = formula.weights(formula.masked(scaled, may))
        factor = np.exp([[1j * case["angle"]]]).astype(np.complex64)
        turned = Rotation("neighbours", 2).rotated(q[None].numpy(), factor)[0]
        wanted = {
            "scaled": scaled[0],
            "weights": weights[0],
            "output": formula.mixed(weights, values)[0],
            "masked": masked[0],
            "turned": turned,
        }
        for name, expected in wanted.items():
            np.testing.assert_allclose(answer[name], expected, rtol=2e-5, atol=2e-5, err_msg=name)
