"""`make demo`: a site of offline pages, opened without a network; links open the head they name."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import attnviz
from attnviz.checks import examples
from attnviz.i18n import text
from scripts import demo, demo_pictures
from tests.support.waiting import expect_true

MODELS = ("mha-55", "translator", "shapes", "sentiment")
N_LESSONS = 4  # of the films; tests/unit/teach has the cards of all
N_CUTS = 2  # for each circuit; tests/oracle has the cuts of all paths


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    arguments = [str(folder), "--models", *MODELS, "--languages", "en", "ja"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_pictures, "SLUGS", demo_pictures.SLUGS[:N_LESSONS])
        patch.setattr(demo_pictures, "N_CUTS", N_CUTS)
        assert demo.main(arguments) == 0
    return folder / demo.FIXED


def test_write_pages_makes_pages_that_open_without_a_network(site: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto((site / "index.html").as_uri())
    expect(page.locator("article")).to_have_count(len(MODELS))
    expect_true(lambda: page.evaluate("document.documentElement.scrollWidth") <= 390)
    pictures = page.locator("article img")
    wide = "(images) => images.every((image) => image.naturalWidth)"
    expect_true(lambda: pictures.evaluate_all(wide))
    follow(page, "translator.html?view=head&layer=1&head=2&group=2")
    page.go_back()
    follow(page, "shapes.html?view=head")
    page.goto((site / "index.html").as_uri())
    page.locator("a[href='sentiment-atlas.html']").click()
    expect(page.locator("h1")).to_have_text(f"{text('en', 'page.atlas.title')} · sentiment")
    expect(page.locator("figure svg")).to_be_visible()
    page.goto((site / "index.html").as_uri())
    page.locator("a[href='shapes-map.html']").click()
    page.locator("[data-component=map] canvas").first.wait_for()
    expect(page.locator("h1")).to_contain_text(text("en", "page.map.title"))
    page.goto((site / "films.html").as_uri())
    expect(page.locator("[data-component=motion]")).to_have_count(len(demo_pictures.every_film()))
    page.locator("[data-component=motion] canvas").first.wait_for()
    page.goto((site / "index.html").as_uri())
    page.locator("nav a[lang=ja]").click()
    expect(page.locator("header + p")).to_have_text(text("ja", "app.tagline"))
    assert (site / "ja" / "mha-55.html").is_file()
    assert not said and all(url.startswith(("file:", "data:")) for url in asked)
    context.close()


def test_a_path_of_a_circuit_is_cut_without_a_server(site: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((site / "sentiment-circuit.html").as_uri())
    rows = page.locator(".av-circuit-row")
    rows.first.click()
    detail = page.locator(".av-circuit-detail")
    expect(detail.locator("table")).to_be_visible()
    expect(detail).to_contain_text(rows.first.locator(".av-circuit-ends").inner_text())
    expect(page.locator(".av-circuit-right")).not_to_have_attribute("data-faded", "")
    run = attnviz.experiment("sentiment", next(iter(examples.texts("sentiment"))))
    path = run.paths().strongest(1)[0]
    expect(rows.first).to_have_attribute("data-path", f"{path.sender}-{path.receiver}.{path.side}")
    assert said == []
    context.close()


def follow(page: Page, start: str) -> None:
    """The first link to a model's head shows that head, drawn."""
    link = page.locator(f"li a[href^='{start}']").first
    name = link.inner_text()
    link.click()
    page.locator("[data-component=head] canvas[data-drawn]").first.wait_for()
    expect(page.locator("#view").get_by_text(name, exact=True).first).to_be_visible()
