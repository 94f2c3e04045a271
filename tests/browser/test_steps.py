"""Steps: one chosen cell is linked through all panels, and its numbers are the library's."""

import re
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.attention.steps import Steps
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import cell_middle
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import eventually, expect_number, expect_true, number

TEXT = "The cat sat on the mat."
N = 9  # its tokens
LAYER, HEAD = 2, 7
QUERY, KEY = 3, 2
# stage → what a chosen (query, key) marks there: rows, cell, columns of this head
LINKED: dict[str, tuple[str | None, str | None, str | None]] = {
    "x": (f"{QUERY},{KEY}", None, None),
    "q": (f"{QUERY}", None, None),
    "k": (f"{KEY}", None, None),
    "v": (f"{KEY}", None, None),
    "scores": (None, f"{QUERY},{KEY}", None),
    "scaled": (None, f"{QUERY},{KEY}", None),
    "masked": (None, f"{QUERY},{KEY}", None),
    "weights": (f"{QUERY}", f"{QUERY},{KEY}", None),
    "mixed": (f"{QUERY}", None, None),
    "concat": (f"{QUERY}", None, f"{HEAD * 32},{(HEAD + 1) * 32}"),
    "projected": (f"{QUERY}", None, None),
}


def panel(visit: Visit, stage: str) -> Locator:
    return visit.page.locator(f".panel[data-stage={stage}]")


def canvas(visit: Visit, stage: str) -> Locator:
    return panel(visit, stage).locator("canvas[role=img]")


def derived(minilm: LoadedModel) -> Steps:
    return attnviz.derive(attnviz.capture(minilm, TEXT).call(LAYER), HEAD)


def check_links(visit: Visit) -> None:
    for stage, (rows, cell, cols) in LINKED.items():
        expect_data(canvas(visit, stage), rows=rows, cell=cell, cols=cols)


@pytest.mark.slow
@pytest.mark.parametrize("stage", mostly_slow(["weights", "scores"], 1))
def test_a_cell_chosen_by_keys_is_marked_in_every_panel(visit: OpenVisit, stage: str) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD)
    for key in ["ArrowDown"] * (QUERY + 1) + ["ArrowRight"] * KEY:
        canvas(opened, stage).press(key)
    check_links(opened)
    canvas(opened, stage).press("Escape")
    for name in LINKED:
        expect_data(canvas(opened, name), rows=None, cell=None)


@pytest.mark.slow
def test_a_row_chosen_in_k_keeps_the_query(visit: OpenVisit) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=0)
    keys = canvas(opened, "k")
    x, y = cell_middle(keys, KEY, 5, N, 32)
    keys.click(position={"x": x, "y": y})
    check_links(opened)


def test_the_arithmetic_shows_the_numbers_of_the_library(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    steps = derived(minilm)
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY)
    for stage in ("scores", "scaled", "masked", "weights"):
        shown = opened.page.locator(f"li[data-sum={stage}] .result")
        expect(shown).to_have_count(1)
        expect_number(shown, float(getattr(steps, stage)[QUERY, KEY]), abs=6e-5)
    eventually(lambda: check_terms(opened, steps))
    eventually(lambda: check_running_sum(opened, float(steps.scores[QUERY, KEY])))
    eventually(lambda: check_mixed(opened, steps))
    eventually(lambda: check_effect(opened, steps))


def check_terms(visit: Visit, steps: Steps) -> None:
    """The largest products come first, with their values."""
    q, k = steps.q[QUERY].numpy(), steps.k[KEY].numpy()
    largest = np.argsort(-np.abs(q * k), kind="stable")[:8]
    terms = visit.page.locator("li[data-sum=scores] .term").all()
    assert [int(data(term)["component"]) for term in terms] == largest.tolist()
    values = [float(data(term)["value"]) for term in terms]
    assert values == pytest.approx((q * k)[largest].tolist(), abs=6e-3)  # two decimals


def check_running_sum(visit: Visit, score: float) -> None:
    """Products and running sum add up to the score, to the last digit that is printed."""
    table = visit.page.locator("table.terms")
    products = [number(of) for of in table.locator("tbody td.product-bar").all_inner_texts()]
    running = [number(of) for of in table.locator("tbody td:last-child").all_inner_texts()]
    assert running == pytest.approx(np.cumsum(products).tolist(), abs=1e-9)
    assert running[-1] == number(table.locator("tfoot td").first.inner_text())
    assert running[-1] == pytest.approx(score, abs=6e-3)


def check_effect(visit: Visit, steps: Steps) -> None:
    """‖α·f(x)‖ and its place in the row, from W_O itself."""
    assert steps.w_o is not None
    effects = (steps.weights[QUERY, :, None] * (steps.v @ steps.w_o)).norm(dim=1)
    card = visit.page.locator("li[data-sum=projected]")
    assert "W_O" not in (card.text_content() or "")  # its index is set low
    said = card.locator("[data-effect]")
    assert float(data(said)["effect"]) == pytest.approx(float(effects[KEY]), rel=1e-5)
    assert int(data(said)["rank"]) == 1 + int((effects > effects[KEY]).sum())


def check_mixed(visit: Visit, steps: Steps) -> None:
    weighted = steps.weights[QUERY, KEY] * steps.v[KEY]
    cells = visit.page.locator("li[data-sum=mixed] tbody td")
    shown = np.reshape([number(cell) for cell in cells.all_inner_texts()], (8, 3))
    columns = (steps.v[KEY], weighted, steps.mixed[QUERY])
    for values, wanted in zip(shown.T, columns, strict=True):
        assert values == pytest.approx(wanted[:8].numpy(), abs=6e-5)
    region = visit.page.locator("li[data-sum=mixed] .scroll")
    assert region.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    mixed = steps.mixed[QUERY]
    share = float(weighted @ mixed / (mixed @ mixed))
    said = visit.page.locator("li[data-sum=mixed] .share")
    assert float(data(said)["share"]) == pytest.approx(share, abs=1e-4)
    parts = said.locator(".fraction").last.locator("> span:not([class])")
    above, below = map(number, parts.all_inner_texts())
    assert above / below == pytest.approx(share, abs=1e-3)


@pytest.mark.slow
def test_the_question_on_a_hidden_cell_is_why_it_cannot_be_seen(visit: OpenVisit) -> None:
    cell = {"layer": 2, "head": 1, "query": 10, "key": 12}
    text = "When Mary and John went to the store, John gave a book to"
    page = visit("steps", model="stories", text=text, **cell).page
    question = page.locator("h2.asks")
    expect(question).to_have_text(re.compile("^Why can't .*John.* look at a\\?$"))
    page = visit("steps", model="stories", text=text, **cell | {"key": 2}).page
    expect(page.locator("h2.asks")).to_have_text(
        re.compile("^How does .*John.* come to look at Mary")
    )


def test_all_products_add_up_to_the_score(visit: OpenVisit, minilm: LoadedModel) -> None:
    steps = derived(minilm)
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY)
    opened.page.locator("[data-sum=scores] .step-head").click()
    opened.page.get_by_role("button", name="Show all 32 products").click()
    table = opened.page.locator("table.terms")

    def check() -> None:
        cells = table.locator("tbody td.product-bar").all_inner_texts()
        total = number(table.locator("tfoot td").first.inner_text())
        assert len(cells) == 32
        # to the last digit that is printed
        assert sum(map(number, cells)) == pytest.approx(total, abs=1e-9)
        assert total == pytest.approx(float(steps.scores[QUERY, KEY]), abs=6e-5)

    eventually(check)


def badge_number(badge: Locator) -> float:
    return number(badge.inner_text().split("=")[1])


def test_badges_are_green_where_the_model_has_a_tensor_of_its_own(
    look: OpenVisit, minilm: LoadedModel
) -> None:
    steps = derived(minilm)
    opened = look("steps", text=TEXT, layer=LAYER, head=HEAD)
    for stage in LINKED:
        badge = panel(opened, stage).locator(".badge")
        if stage not in steps.errors:
            expect_data(badge, ok="none")
            continue
        expect_data(badge, ok="true")
        error = partial(badge_number, badge)
        tolerance = steps.comparisons[stage].tolerance
        expect_true(lambda error=error, tolerance=tolerance: error() <= tolerance)
    assert set(steps.errors) == {"q", "k", "v", "mixed", "concat", "projected"}
    expect(opened.page.locator(".panel.bad")).to_have_count(0)


@pytest.mark.slow
def test_panels_show_the_shapes_of_the_matrices(look: OpenVisit, minilm: LoadedModel) -> None:
    opened = look("steps", text=TEXT, layer=LAYER, head=HEAD)
    for view in derived(minilm).views():
        (rows, cols), name = view.values.shape, view.stage
        shape = panel(opened, name).locator(".shape")
        expect(shape).to_have_text(f"{view.rows} {rows} × {view.cols} {cols}")
        expect_data(canvas(opened, name), rows_count=rows, cols_count=cols)


@pytest.mark.slow
def test_the_default_text_prints_its_numbers(visit: OpenVisit) -> None:
    """All 16 tokens of it, as long as two panels with numbers have room side by side."""
    opened = visit("steps")
    expect_true(lambda: int(data(canvas(opened, "weights"))["digits"]) >= 2)
    expect_true(lambda: int(data(canvas(opened, "scores"))["digits"]) >= 0)


@pytest.mark.slow
def test_numbers_stand_in_the_cells_up_to_sixteen_tokens(visit: OpenVisit) -> None:
    short = visit("steps", text=TEXT, layer=LAYER, head=HEAD)
    expect_true(lambda: int(data(canvas(short, "weights"))["digits"]) >= 2)
    long = visit("steps", text="The animal didn't cross the street because it was much too tired.")
    expect_data(canvas(long, "weights"), cols_count=17, digits=None)


def test_a_cell_chosen_by_mouse_is_marked_in_every_panel(look: OpenVisit) -> None:
    opened = look("steps", text=TEXT, layer=LAYER, head=HEAD)
    before = len(opened.seen.sent)
    weights = canvas(opened, "weights")
    x, y = cell_middle(weights, QUERY, KEY, N, N)
    weights.click(position={"x": x, "y": y})
    check_links(opened)
    opened.wait_for_parameters(query=QUERY, key=KEY)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_another_head_is_computed_by_the_server(visit: OpenVisit, minilm: LoadedModel) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY)
    opened.page.get_by_role("button", name="Next head").click()
    expect_data(canvas(opened, "weights"), layer=LAYER, head=HEAD + 1)
    opened.wait_for_parameters(layer=LAYER, head=HEAD + 1, query=QUERY, key=KEY)
    steps = attnviz.derive(attnviz.capture(minilm, TEXT).call(LAYER), HEAD + 1)
    shown = opened.page.locator("li[data-sum=weights] .result")
    expect_number(shown, float(steps.weights[QUERY, KEY]), abs=6e-5)


@pytest.mark.slow
def test_own_numbers_are_rows_that_were_typed(visit: OpenVisit) -> None:
    page = visit("calculator").page
    expect(page.locator("li[data-sum=q]")).to_contain_text("Each row becomes q, k and v")
    expect(page.locator("p.precision")).to_contain_text(
        "Computed in float32 from the typed numbers."
    )
    page = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY).page
    expect(page.locator("p.precision")).to_contain_text("from the model’s recorded q, k, v.")
    expect(page.locator("[data-face=arrows]")).to_have_text("As arrows")
