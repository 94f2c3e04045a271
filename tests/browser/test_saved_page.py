"""A saved page and a notebook's frame, opened without a network: they paint and ask for nothing."""

import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

import attnviz
from attnviz.attention.capture import Capture
from attnviz.files.saved_page import rebuilt
from attnviz.files.saved_page.document import HERE
from attnviz.i18n import LANGUAGES, Language, tag, text
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.bundle import FOLDER, join
from tests.support.cases import mostly_slow
from tests.support.hostile import HALF, TEXT, TOKENS, escaped
from tests.support.waiting import LIMIT_MS, at_rest, expect_equal, expect_true

WORDS = "The cat sat on the mat because it was tired"
HEAD = "L2.H3"
QUERY, KEY = 3, 6
HIGH = 1600
MAX_DIFFERENCE = 6.0  # of 255, on the mean: letters and edges stand between pixels
MAX_APART = 0.06  # the fraction of pixels that differ by a quarter and more
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def capture() -> Capture:
    return attnviz.capture("minilm", WORDS)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a file; when the test is over it must have been the only request, and quiet."""
    asked: list[str] = []
    said: list[str] = []
    contexts = []

    def open_file(path: Path, **options: object) -> Page:
        context = browser.new_context(offline=True, **options)  # type: ignore[arg-type]
        context.set_default_timeout(LIMIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith("file:")] == []
    assert len({url.partition("?")[0] for url in asked}) == len(contexts)
    assert said == []


def complete(page: Page) -> None:
    expect(page.locator("#view[data-complete]")).to_be_attached()


def largest(page: Page, high: int) -> Locator:
    """The largest canvas that is wholly on a screen so high."""

    def area(canvas: Locator) -> float:
        box = canvas.bounding_box()
        whole = box is not None and box["y"] + box["height"] < high
        return box["width"] * box["height"] if box and whole else 0

    return max(page.locator("canvas[data-drawn]:visible").all(), key=area)


def colours_of(png: bytes) -> np.ndarray:
    """The colours of a screenshot, as whole numbers that can be subtracted."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), np.int32)


def tab(page: Page, view: str) -> None:
    page.locator(f".tabs [data-view={view}]").click()


def color_scheme(page: Page) -> str:
    """The scheme that a page of its own says it has."""
    return str(page.evaluate("getComputedStyle(document.documentElement).colorScheme"))


def painted(canvas: Locator) -> int:
    """How many colours a canvas has."""
    colours: int = canvas.evaluate(
        """(canvas) => new Set(new Uint32Array(canvas.getContext("2d")
            .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
    )
    return colours


@pytest.mark.parametrize(
    ("scheme", "width"),
    mostly_slow([("light", 390), ("dark", 1440), ("light", 1440), ("dark", 390)], 1),
)
def test_every_view_paints_without_a_network(
    opened: Open, capture: Capture, tmp_path: Path, scheme: str, width: int
) -> None:
    path = attnviz.save(capture, tmp_path / "cat.html", heads=[HEAD])
    viewport = {"width": width, "height": 900}
    page = opened(path, color_scheme=scheme, viewport=viewport)
    complete(page)
    for view in ("overview", "head", "steps", "masks"):
        tab(page, view)
        canvas = page.locator("canvas[data-drawn]").first
        expect(canvas).to_be_visible()
        expect_true(lambda: painted(canvas) > 10)  # noqa: B023
        expect_true(lambda: page.evaluate("document.documentElement.scrollWidth") <= width)
    expect_equal(lambda: color_scheme(page), scheme)
    page.locator("#theme").click()
    expect_true(lambda: color_scheme(page) != scheme)


def expect_value(page: Page, stage: str, wanted: np.float32) -> None:
    readout = page.locator(f".panel[data-stage={stage}] .readout[data-value]")
    expect_equal(lambda: np.float32(readout.get_attribute("data-value")), wanted)


def test_the_stages_of_a_page_are_those_of_derive(
    opened: Open, capture: Capture, tmp_path: Path
) -> None:
    page = opened(attnviz.save(capture, tmp_path / "cat.html", heads=[HEAD]))
    complete(page)
    tab(page, "steps")
    weights = page.locator(".panel[data-stage=weights] canvas[data-plot]").first
    expect(weights).to_be_visible()
    left, top, wide, high = map(float, (weights.get_attribute("data-plot") or "").split(","))
    n = len(capture.tokens)
    at = {"x": left + (KEY + 0.5) * wide / n, "y": top + (QUERY + 0.5) * high / n}
    weights.click(position=at)
    expect(page.locator(f".steps[data-query='{QUERY}'][data-key='{KEY}']")).to_be_attached()
    views = {view.stage: view for view in capture.head(HEAD).views()}
    pairs = {stage: view for stage, view in views.items() if view.cols == "key"}
    # a panel of components names its row, and no component that nobody chose
    expect(page.locator(".panel .readout[data-value]")).to_have_count(len(pairs))
    expect(page.locator(".panel[data-stage=k] .readout")).to_have_text(
        f"{capture.tokens.labels[KEY]} · row of the key"
    )
    for stage, view in pairs.items():
        expect_value(page, stage, view.values[QUERY, KEY])
    for stage in views.keys() - pairs.keys():
        page.locator(f".panel[data-stage={stage}] canvas[role=img]").press("ArrowRight")
        row = QUERY if views[stage].rows == "query" else KEY
        expect_value(page, stage, views[stage].values[row, 1])


@pytest.mark.parametrize("model", mostly_slow(["stories", "minilm", "stories-llama"], 1))
def test_the_browser_makes_every_number_of_a_head_to_the_last_bit(
    opened: Open, tmp_path: Path, model: str
) -> None:
    """Scores and weights are made of q and k where a page would be large; no bit is another."""
    cap = attnviz.capture(model, " ".join(["Lily gave the red ball to Tom and"] * 4))
    path = attnviz.save(cap, tmp_path / "long.html", heads=[HEAD])
    html = path.read_text(encoding="utf-8")
    page = opened(path)
    complete(page)
    modules = {"repack": HERE / "repack.js", "unpack": FOLDER / "shared" / "unpack.js"}
    bundle = join(modules | {"buffer": FOLDER / "shared" / "buffer.js"})
    names = {name: bundle.entries[name] for name in bundle.entries}
    made = page.evaluate(
        f"""async ([parts, index, views, head]) => {{
            {bundle.script}
            const page = {{ bytes: {{}}, rebuilt: index.rebuilt, made: new Map() }};
            for (const [name, text] of Object.entries(parts)) {{
                const node = document.createElement("script");
                node.type = "application/gzip-base64";
                node.dataset.part = `test-${{name}}`;
                node.textContent = text;
                document.body.append(node);
                const bytes = await {names["unpack"]}.unpackPart(node.dataset.part);
                Object.assign(page.bytes, {names["buffer"]}.parse(bytes).arrays);
            }}
            return views.map((view) => {{
                const part = index.groups[0].views[view].heads[head];
                return [...{names["repack"]}.repack(part, {{}}, page)];
            }});
        }}""",
        [parts_of(html), index_of(html), ["steps", "masks"], HEAD],
    )
    rules = {recipe["rule"] for recipe in index_of(html)["rebuilt"].values()}
    assert rules == {"products", "softmax"} | ({"blocked"} if model != "minilm" else set())
    steps, masks = (unpack(bytes(view))[1] for view in made)
    for view in cap.head(HEAD).views():
        if view.stage in steps:
            np.testing.assert_array_equal(bits(steps[view.stage]), bits(view.values), view.stage)
    np.testing.assert_array_equal(bits(masks["weights"][0]), bits(cap.weights(HEAD)))


def test_rows_without_a_number_and_far_differences_are_made_alike(browser: Browser) -> None:
    masked = np.full((4, 8), -np.inf, np.float32)
    masked[1:] = np.linspace(-900, 3, 24, dtype=np.float32).reshape(3, 8)
    exact = rebuilt.softmax(masked)
    exact[2, 3], exact[3, 1] = np.float32(-1), np.float32(np.nan)
    recipe = rebuilt.rebuilt_stage("weights", {"masked": masked, "weights": exact})
    assert recipe is not None and len(recipe.differences.far) == 2
    differences = recipe.differences
    module = join({"rebuilt": HERE / "rebuilt.js"})
    page = browser.new_page()
    made = page.evaluate(
        f"""([masked, near, far]) => {{
            {module.script}
            const stored = (data) => ({{ data: new Uint8Array(data) }});
            const bytes = {{ masked: stored(masked), near: stored(near), far: stored(far) }};
            const recipe = {{ rule: "softmax", sources: [{{ from: "masked" }}], sizes: [4, 8],
                near: "near", far: "far" }};
            const page = {{ bytes, rebuilt: {{ weights: recipe }}, made: new Map() }};
            return [...{module.entries["rebuilt"]}.bytesOf({{ from: "weights" }}, page)];
        }}""",
        [list(array.tobytes()) for array in (masked, differences.near, differences.far)],
    )
    page.close()
    np.testing.assert_array_equal(np.frombuffer(bytes(made), np.int32), bits(exact).ravel())


def parts_of(html: str) -> dict[str, str]:
    """The compressed arrays of a page, by their block."""
    found = re.findall(r'data-part="(first|later)">([^<]*)</script>', html)
    assert len(found) == 2
    return dict(found)


def index_of(html: str) -> dict[str, Any]:
    match = re.search(r'id="index">([^<]*)</script>', html)
    assert match is not None
    index: dict[str, Any] = json.loads(match[1])
    return index


def bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float32).view(np.int32)


@pytest.mark.slow
@pytest.mark.parametrize("view", mostly_slow(["head", "overview", "steps"], 1))
def test_a_saved_picture_is_what_is_on_the_screen(
    opened: Open, browser: Browser, capture: Capture, tmp_path: Path, view: str
) -> None:
    """The SVG looks as the canvas does, which its own drawing calls were taken from."""
    path = attnviz.save(capture, tmp_path / "cat.html", heads=[HEAD])
    page = opened(path, viewport={"width": 900, "height": HIGH}, color_scheme="dark")
    complete(page)
    tab(page, view)
    expect(page.locator("canvas[data-drawn]").first).to_be_visible()
    with page.expect_download() as download:
        page.locator("#picture").click()
    page.mouse.move(0, 0)
    box = dict(at_rest(largest(page, HIGH).bounding_box) or {})
    screen = colours_of(page.screenshot(clip=box))
    download.value.save_as(tmp_path / "cat.svg")
    picture = (tmp_path / "cat.svg").read_text(encoding="utf-8")
    left, top, *_ = map(float, re.findall(r'viewBox="([^"]+)"', picture)[0].split())
    with browser.new_context(viewport={"width": 1000, "height": 1800}, offline=True) as context:
        alone = context.new_page()
        alone.goto((tmp_path / "cat.svg").as_uri())
        place = {"x": box["x"] - left, "y": box["y"] - top}
        saved = colours_of(alone.screenshot(clip=box | place))
    apart = np.abs(screen - saved)
    assert screen.std() > 10
    assert apart.mean() < MAX_DIFFERENCE and (apart.max(axis=-1) > 64).mean() < MAX_APART
    texts = [node.text for node in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    place = "" if view == "overview" else f"{HEAD} · "
    assert f"MiniLM (encoder) · {place}{WORDS}" in texts
    hints = ("head.readout_idle", "head.sums_idle", "head.ranked_idle", "steps.edit_hint")
    said = " ".join(" ".join((line or "").split()) for line in texts)
    assert [hint for hint in hints if text("en", f"component.{hint}") in said] == []


def test_a_page_of_some_heads_leads_to_these_alone(opened: Open, tmp_path: Path) -> None:
    cap = attnviz.capture("minilm", WORDS, keep=["L1.H2", "L1.H7", "L4.H0"])
    page = opened(attnviz.save(cap, tmp_path / "some.html", heads="all"))
    complete(page)
    expect(page.locator(".av-note", has_text="keeps 3 of the 72 heads")).to_be_visible()
    tab(page, "steps")
    expect(page.locator(".steps[data-layer='1'][data-head='2']")).to_be_visible()
    page.locator("select[data-pick=layer]").select_option("4")
    expect(page.locator(".steps[data-layer='4'][data-head='0']")).to_be_visible()
    tab(page, "masks")
    for name, numbers in (("layer", ["1", "4"]), ("head", ["0"])):
        options = page.locator(f"select[data-pick={name}] option:not([disabled])")
        expect(options).to_have_text(numbers)
    expect(page.locator(".missing")).to_have_count(0)


@pytest.mark.slow
def test_patches_of_some_heads_are_crossed_out_and_offer_no_mean(
    opened: Open, tmp_path: Path
) -> None:
    seen = np.full((64, 64, 3), 255, np.uint8)
    for keep, n_option, n_cell in ((None, 2, 16), (["L0.H1", "L1.H0"], 1, 2)):
        cap = attnviz.capture("shapes", image=seen, keep=keep)
        path = attnviz.save(cap, tmp_path / f"{n_cell}.html", picture=seen, view="picture")
        page = opened(path)
        complete(page)
        expect(page.locator(".av-patches-options input[type=checkbox]")).to_have_count(n_option)
        expect(page.locator(".av-picker-grid [role=gridcell][aria-label]")).to_have_count(n_cell)


@pytest.mark.slow
def test_a_head_that_is_not_in_the_page_is_named_and_one_that_is_can_be_opened(
    opened: Open, capture: Capture, tmp_path: Path
) -> None:
    page = opened(attnviz.save(capture, tmp_path / "cat.html", heads=[HEAD, "L0.H1"]))
    complete(page)
    tab(page, "steps")
    page.locator("select[data-pick=head]").select_option("5")
    expect(page.locator(".missing")).to_contain_text("L2.H5")
    page.locator(".missing [data-head='L0.H1']").click()
    expect(page.locator(".steps[data-layer='0'][data-head='1']")).to_be_visible()
    tab(page, "masks")
    expect(page.locator(".masks[data-layer='0'][data-head='1']")).to_be_visible()
    expect(page).to_have_url(re.compile("layer=0"))
    expect(page).to_have_url(re.compile("view=masks"))
    page.reload()
    complete(page)
    expect(page.locator(".masks[data-head='1']")).to_be_visible()


def test_text_stays_text_in_the_title_the_tokens_and_the_names(
    opened: Open, tmp_path: Path
) -> None:
    n = len(TOKENS)
    weights = np.full((1, 2, n, n), 1 / n, np.float32)
    cap = attnviz.from_attentions(weights, TOKENS, name=f"{TEXT}{HALF}")
    page = opened(attnviz.save(cap, tmp_path / "hostile.html", title=f"{TEXT} {HALF}"))
    complete(page)
    expect(page.locator("h1")).to_contain_text("</script><img src=x onerror=window.__pwned=1>")
    expect(page.locator("[data-view=steps]")).to_have_count(0)  # weights alone have no steps
    for view in ("overview", "head"):
        tab(page, view)
        assert escaped(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("lang", mostly_slow(LANGUAGES, ("ja",)))
def test_a_page_speaks_its_language(
    opened: Open, capture: Capture, tmp_path: Path, lang: Language
) -> None:
    page = opened(attnviz.save(capture, tmp_path / "cat.html", lang=lang))
    complete(page)
    expect(page.locator("html")).to_have_attribute("lang", tag(lang))
    views = ("overview", "head", "steps", "masks")
    expect(page.locator(".tabs button")).to_have_text(
        [text(lang, f"page.{view}.title") for view in views]
    )
    expect(page.locator("#theme")).to_have_text(text(lang, "file.theme"))


def test_a_frame_paints_over_its_still_picture_and_has_no_origin(
    opened: Open, capture: Capture, tmp_path: Path
) -> None:
    bundle = attnviz.show(capture, heads=[HEAD])._repr_mimebundle_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{bundle['text/html']}", encoding="utf-8")
    page = opened(path)
    frame = page.frame_locator("iframe")
    expect(frame.locator("#view[data-complete]")).to_be_attached()
    expect_true(lambda: painted(frame.locator("canvas[data-drawn]").first) > 10)
    frame.locator(".tabs [data-view=head]").click()
    expect(frame.locator(".av-head")).to_be_visible()
    inner = page.frames[1]
    assert inner.evaluate("self.origin") == "null"
    still = page.locator("img").first
    expect_true(lambda: still.evaluate("(image) => image.naturalWidth") > 100)
    expect(still).to_have_attribute("alt", re.compile("minilm"))


NOTEBOOK_POLICY = (  # of the page in which VS Code shows the cells of a notebook
    "default-src 'none'; script-src https: 'unsafe-inline' 'unsafe-eval'; img-src https: data:;"
    " style-src https: 'unsafe-inline'; child-src https: data: blob:"
)


@pytest.mark.slow
def test_a_frame_draws_under_a_notebooks_policy(
    browser: Browser, capture: Capture, tmp_path: Path
) -> None:
    cell = attnviz.show(capture, heads=[HEAD])._repr_mimebundle_()["text/html"]
    meta = f'<meta http-equiv="Content-Security-Policy" content="{NOTEBOOK_POLICY}">'
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{meta}{cell}", encoding="utf-8")
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        canvas = page.frame_locator("iframe").locator("canvas[data-drawn]").first
        expect(canvas).to_be_visible()
        expect_true(lambda: painted(canvas) > 10)
