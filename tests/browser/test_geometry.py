"""Geometry in the browser: its numbers are the library's, arrows are dragged and kept."""

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, expect

from attnviz.attention import formula
from attnviz.attention.rotary import Rotation
from attnviz.components.geometry import DEFAULT_VECTORS
from tests.browser.conftest import OpenVisit
from tests.support.canvas import module_page
from tests.support.visit import data
from tests.support.waiting import expect_equal, expect_true

N_CASES, MOST = 40, 6
ATTEND = """async (cases) => {
    const { attend, softmax, turned } = await import("/geometry/maths.js");
    return cases.map(({ q, keys, values, may, angle }) =>
        ({ ...attend(q, keys, values), masked: softmax(attend(q, keys, values).scaled, may),
           turned: turned(q, angle) }));
}"""


def test_attend_computes_what_formula_computes(browser: Browser) -> None:
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
    with module_page(browser) as page:
        answers = page.evaluate(ATTEND, cases)
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


def test_an_arrow_is_dragged_moved_by_keys_and_kept_in_the_address(visit: OpenVisit) -> None:
    page = visit("geometry", text="The cat sat.").page
    plane = page.locator(".av-geometry-plane canvas[data-weights]")
    plane.wait_for()
    q, k = (np.array(part.split(",")[:2], float) for part in DEFAULT_VECTORS.split("/")[:2])
    first = float(data(plane)["scaled"].split(",")[0])
    np.testing.assert_allclose(first, q @ k / 2**0.5, atol=1e-9)
    handle = page.locator(".av-geometry-handle").first
    box = handle.bounding_box()
    board = plane.bounding_box()
    assert box is not None and board is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(board["x"] + board["width"] / 2, board["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.get_by_role("row").nth(1)).not_to_contain_text(f"{first:.2f}")
    handle.focus()
    page.keyboard.press("ArrowRight")

    def place() -> tuple[float, float]:
        x, y = map(float, (handle.get_attribute("data-at") or "").split(","))
        return x, y

    expect_true(lambda: 0.08 <= place()[0] <= 0.12 and 2 < place()[1] <= 3)
    x, y = place()
    page.wait_for_function(
        "value => location.search.includes(value)", arg=f"vectors={x:g}%2C{y:g}%2F"
    )
    expect_equal(
        lambda: np.array(data(plane)["weights"].split(","), float).sum(),
        pytest.approx(1, abs=1e-12),
    )
    page.get_by_role("radio", name="A real head").click()
    head = page.locator(".av-geometry-plane canvas[data-off]")
    head.wait_for()
    expect(page.get_by_text("the median of 72 heads")).to_be_visible()
    page.get_by_role("radio", name="Rotary").click()
    turned = page.locator(".av-geometry-plane canvas[data-score]")
    before = float(data(turned)["score"])
    page.get_by_label("Both together").fill("31")
    page.wait_for_function("() => location.search.includes('tab=rotary')")
    score = pytest.approx(before, abs=1e-12)
    expect_equal(lambda: float(data(turned)["score"]), score)
    page.reload()
    turned.wait_for()
    expect_equal(lambda: float(data(turned)["score"]), score)
