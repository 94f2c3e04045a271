"""The live page: models that run in the browser, on a site and in one file, held to the library."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

import attnviz
from attnviz.capture.request import Request
from attnviz.experiment.clean_run import prepare_request
from attnviz.experiment.run import Experiment
from attnviz.i18n import LANGUAGES, Language, text
from attnviz.live.model import first_picture, live_model
from attnviz.live.site import write_site
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.stage import STAGED, StageView
from attnviz.pictures.stage import fill as stage_fill
from tests.support.cases import mostly_slow
from tests.support.static_site import served
from tests.support.waiting import LIMIT_MS, expect_equal, expect_true, number

MODELS = ("stories", "sentiment", "translator", "shapes")
OWN = "Sam has a hat and Lily has a ball. Sam's mom gave Lily's ball to"
STORE = "When Mary and John went to the store, John gave a book to"
TASTED = "This is a good film."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("live")
    write_site(site, [live_model(name) for name in MODELS])
    return site


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as url:
        yield url


class Visitor:
    """A page with all that it asked for and said."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def open(self, url: str) -> Page:
        """Open a page and wait until it shows a picture."""
        self.page.goto(url)
        self.page.locator("#view[data-shown]").wait_for(timeout=LIMIT_MS)
        return self.page


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Visitor]:
    """A visitor who, in the end, asked for files of the site alone, and whose console is empty."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    visitor = Visitor(context)
    yield visitor
    assert visitor.said == []
    assert all(url.startswith((address, "data:", "blob:")) for url in visitor.asked)
    context.close()


def type_at_end(page: Page, words: str) -> None:
    page.locator("#text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(words)


def type_at_start(page: Page, words: str) -> None:
    page.locator("#text").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type(words)


def chances(page: Page) -> dict[str, float]:
    """The choices under the text with their percentages."""
    found = {}
    for choice in page.locator("#answer .choice").all():
        name = choice.locator("b, bdi").inner_text()
        found[name] = number(choice.inner_text().removeprefix(name).replace("%", ""))
    return found


def torchs_choice(model: str, words: str) -> tuple[str, float]:
    """The likeliest next token or class by the library, and its percentage."""
    lm = attnviz.load(model)
    logits = attnviz.capture(lm, words).logits
    assert logits is not None
    chances = logits[0].reshape(-1, logits.shape[-1])[-1].softmax(-1)
    best = int(chances.argmax())
    names = getattr(lm.model.config, "id2label", None) if model == "sentiment" else None
    name = names[best] if names else lm.labels_of([best])[0]
    return name, 100 * float(chances[best])


def test_a_page_says_what_torch_says_and_moves_with_each_key(
    visitor: Visitor, address: str
) -> None:
    page = visitor.open(f"{address}?view=overview")
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")
    type_at_end(page, " Mary. Mary gave a book to")
    typed = f"{STORE} Mary. Mary gave a book to"
    expect(page.locator("[data-component=grid] .av-chip")).to_have_count(
        len(attnviz.capture("stories", typed).tokens)
    )
    name, percent = torchs_choice("stories", typed)
    expect_true(lambda: abs(chances(page)[name] - percent) < 0.6)


def test_every_tab_of_a_decoder_draws(visitor: Visitor, address: str) -> None:
    page = visitor.open(address)
    for tab, canvas in {
        "head": "head",
        "steps": "steps",
        "masks": "masks",
        "switches": "switches",
        "output": "bars",
        "overview": "grid",
        "stage": "stage",
    }.items():
        page.locator(f"#tabs [data-view={tab}]").click()
        expect(page.locator(f"[data-component={canvas}] .av")).to_be_visible()
        expect(page.locator("#problem")).to_be_hidden()


HELD = """
    const answers = [];
    let left = {count};
    window.Worker = class extends Worker {{
        set onmessage(hear) {{
            this.addEventListener("message", (event) => {{
                if (event.data.kind === "progress") return hear(event);
                if (left-- > 0) hear(event);
                else answers.push(() => hear(event));
            }});
        }}
    }};
    window.avRelease = () => {{
        left = Infinity;
        for (const answer of answers.splice(0)) answer();
    }};
"""


@pytest.mark.some(1)
@pytest.mark.parametrize("count", range(5))  # texts, model, first picture, comparison, nothing held
def test_what_is_typed_between_two_answers_is_kept_and_its_row_stays_the_word(
    count: int, visitor: Visitor, address: str
) -> None:
    page = visitor.page
    page.add_init_script(HELD.format(count=count))
    page.goto(f"{address}?view=head&layer=2&head=1&query=14&key=2")
    if count > 2:
        page.locator("#view[data-shown]").wait_for(timeout=LIMIT_MS)
    expect(page.locator("#model option")).to_have_count(len(MODELS))  # the script runs
    type_at_start(page, "Then ")
    page.evaluate("avRelease()")
    expect(page).to_have_url(re.compile("query=15&key=3.*#text=Then"))
    expect(page.locator("#text")).to_have_value(f"Then {STORE}")
    expect(page.locator("#status")).to_contain_text("16 tokens")


@pytest.mark.slow
def test_what_is_typed_before_the_script_has_come_is_kept(visitor: Visitor, address: str) -> None:
    page = visitor.page
    held: list[Route] = []
    page.route("**/code/page.*.js", lambda route: held.append(route))
    page.goto(f"{address}?view=head&layer=2&head=1&query=14&key=2", wait_until="commit")
    type_at_start(page, "Then ")
    expect_true(lambda: page.evaluate("1") and held)
    held[0].continue_()
    expect(page).to_have_url(re.compile("query=15&key=3.*#text=Then"))
    expect(page.locator("#text")).to_have_value(f"Then {STORE}")


@pytest.mark.slow
def test_an_address_is_not_written_with_each_key(visitor: Visitor, address: str) -> None:
    page = visitor.page
    page.add_init_script("""
        window.avWritten = 0;
        const replace = history.replaceState;
        history.replaceState = function (...to) {
            avWritten++;
            return replace.apply(this, to);
        };
    """)
    visitor.open(f"{address}?view=head&layer=2&head=1&query=14&key=2")
    before = page.evaluate("avWritten")
    started = page.evaluate("performance.now()")
    type_at_start(page, "a b c d e f g h i j k l m n o p q r s t ")
    expect(page).to_have_url(re.compile("query=36&key=24.*#text=a"))
    seconds = (page.evaluate("performance.now()") - started) / 1000
    assert page.evaluate("avWritten") - before <= 2.5 * seconds + 2


def test_a_decoder_writes_and_its_text_moves_the_heads(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}?view=output")
    page.locator("#writer summary").click()
    page.locator("#temperature").fill("0")
    page.locator("#write").click()
    expect(page.locator("#continuation")).to_contain_text("Mary")
    expect(page.locator("[data-component=writing] .av")).to_be_visible()
    page.locator("#write").click()
    page.locator("#clear").click()
    expect(page.locator("#continuation")).to_be_empty()


@pytest.mark.slow
def test_the_other_models_answer_in_their_own_way(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}?model=translator")
    page.locator("#text").fill("I saw her yesterday.")
    expect(page.locator("#answer b")).to_have_text("Je l'ai vue hier.")
    page.locator("#tabs [data-view=output]").click()
    expect(page.locator("[data-component=alignment] .av")).to_be_visible()
    page.locator("#model").select_option("sentiment")
    page.locator("#text").fill(TASTED)
    name, percent = torchs_choice("sentiment", TASTED)
    expect_true(lambda: abs(chances(page)[name] - percent) < 0.6)
    page.locator("#model").select_option("shapes")
    expect(page.locator("[data-component=drawing_pad] canvas").first).to_be_visible()
    page.locator("#tabs [data-view=picture]").click()
    expect(page.locator("[data-component=patches] .av")).to_be_visible()


def test_the_first_page_is_the_stage_and_every_sentence_is_cut_here(
    visitor: Visitor, address: str
) -> None:
    page = visitor.open(address)
    pills = page.locator(".stage-pill")
    expect(pills).to_have_count(3)
    expect(page.locator(".stage-own input")).to_be_hidden()  # the page has its own field
    pills.first.click()
    expect(page.locator(".stage-token.gap")).to_have_text("John")
    expect(page.locator(".stage-says")).to_contain_text("John")
    page.get_by_role("button", name="Lily had a red ball.").click()
    expect(page.locator("#text")).to_have_value(STAGED["ball"].text)
    expect(page.locator(".stage-token.query")).to_have_text("was")
    page.locator("#text").fill(OWN)
    expect(page.locator(".stage")).to_have_attribute("data-scene", "own")
    view = stage_of("stories", OWN)
    expect(page.locator(".stage-token.key")).to_have_text(view.looks.tokens[view.looks.key])
    moved = view.looks.moved
    name = f"L{int(moved.argmax()) // 4}.H{int(moved.argmax()) % 4}"
    page.locator(f".stage-square[aria-label*='{name} ']").click()
    winner = view.answers.winners[int(moved.argmax())]
    expect(page.locator(".stage-token.gap")).to_have_text(winner)


def stage_of(name: str, words: str) -> StageView:
    """The stage of a sentence by the library."""
    lm = attnviz.load(name)
    request = Request.of((words,))
    captured = replace(AppCapture.alone(attnviz.capture(lm, words), lm), request=request)
    return stage_fill.next_word(captured, Experiment(prepare_request(lm, request)), "own")


@pytest.mark.slow
def test_canvases_that_did_not_come_are_asked_for_again(browser: Browser, address: str) -> None:
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    page.route("**/code/views.*.js", lambda route: route.abort())
    page.goto(address)
    expect(page.locator(".stage-pill")).to_have_count(3)  # the first page needs none of them
    page.locator("#tabs [data-view=head]").click()
    expect(page.locator("#problem")).to_contain_text("views.")
    page.unroute("**/code/views.*.js")
    page.locator("#tabs [data-view=overview]").click()
    expect(page.locator("[data-component=grid] .av")).to_be_visible()
    expect(page.locator("#problem")).to_be_hidden()
    context.close()


@pytest.mark.slow
def test_a_switch_of_the_stage_stays_off_while_one_types(visitor: Visitor, address: str) -> None:
    page = visitor.open(address)
    page.locator(".stage-square").nth(9).click()
    expect(page.locator(".stage")).to_have_attribute("data-forbidden", "L2.H1")
    type_at_start(page, "Then ")
    expect(page.locator("#status")).to_contain_text("16 tokens")
    expect(page.locator(".stage")).to_have_attribute("data-forbidden", "L2.H1")
    expect_equal(lambda: page.evaluate("document.getAnimations({ subtree: true }).length"), 0)


def test_a_head_is_switched_off_with_its_control(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}?view=switches&changes=L0.H0.mixed=zero")
    expect(page.locator("[data-component=switches]")).to_contain_text("John")
    expect(page.locator("[data-component=switches]")).to_contain_text("random")
    expect(page.locator("#to")).to_have_value("zero")


@pytest.mark.slow
def test_the_pad_shows_the_picture_that_is_answered(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}?model=shapes")
    pad = page.locator(".av-drawing-pad-surface[data-deeds='1']")
    corner = "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data.slice(0, 3)]"
    expect_equal(lambda: pad.evaluate(corner), first_picture()[0, 0].tolist())
    before = page.locator("#answer").inner_text()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator("#answer")).not_to_have_text(before)


@pytest.mark.slow
def test_the_picture_begins_in_the_first_third_of_a_screen(visitor: Visitor, address: str) -> None:
    visitor.page.set_viewport_size({"width": 1440, "height": 900})
    page = visitor.open(address)
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")
    top = "document.getElementById('view').getBoundingClientRect().top"
    expect_true(lambda: page.evaluate(top) < 300)
    expect(page.locator("#about")).to_be_hidden()
    page.locator(".about summary").click()
    expect(page.locator("#about")).to_be_visible()


def test_the_page_comes_without_a_network_after_the_first_visit(
    browser: Browser, folder: Path
) -> None:
    with served(folder) as url:
        context = browser.new_context()
        visitor = Visitor(context)
        page = visitor.open(url)
        kept = """(async () => {
            const [name] = await caches.keys();  // to open none would make one
            return name ? (await (await caches.open(name)).keys()).length : 0;
        })()"""
        n_files = len(LANGUAGES) + 5 + 7  # pages, code, files of the first model
        expect_true(lambda: page.evaluate(kept) >= n_files)
    page.reload()  # the server is gone
    page.locator("#view[data-shown]").wait_for(timeout=LIMIT_MS)
    type_at_end(page, " Mary")
    expect(page.locator(".stage-token.gap")).to_have_text(".")
    context.close()


@pytest.mark.slow
def test_a_browser_without_storage_shows_the_page_all_the_same(
    visitor: Visitor, address: str
) -> None:
    visitor.page.add_init_script("""
        navigator.serviceWorker.register = async () => {
            throw new DOMException("no storage", "SecurityError");
        };
    """)
    page = visitor.open(address)  # its console stays empty
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one") / "film.html"
    capture = attnviz.capture("sentiment", TASTED)
    return attnviz.save(capture, path, live=True, lang="ja")


def test_a_single_file_runs_from_a_disk_without_a_network(single: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844})
    visitor = Visitor(context)
    page = visitor.open(single.as_uri())
    expect(page.locator("#text")).to_have_value(TASTED)
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")
    before = page.locator("#answer").inner_text()
    page.locator("#text").fill("This is not a good film.")
    expect(page.locator("#answer")).not_to_have_text(before)
    assert all(url.startswith(("file:", "data:", "blob:")) for url in visitor.asked)
    assert visitor.said == []
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("lang", mostly_slow(LANGUAGES, ("ja",)))
def test_a_phone_shows_it_in_every_language(lang: Language, browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = Visitor(context).open(address if lang == "en" else f"{address}{lang}/")
    title = text(lang, "page.start.title")
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text(title)
    width = "document.documentElement.scrollWidth"
    for tab in page.locator("#tabs button").all():
        tab.click()
        expect_true(lambda: page.evaluate(width) <= 390)
    page.locator("#tabs [data-view=output]").click()
    page.locator("#write").click()
    expect(page.locator("[data-component=writing] .av")).to_be_visible()
    expect_true(lambda: page.evaluate(width) <= 390)
    context.close()


@pytest.mark.slow
def test_a_frame_shows_a_head_its_field_and_a_way_out(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}?embed&layer=2&head=1#text=Tom+gave+the+ball+to")
    expect(page.locator("[data-component=head] .av")).to_be_visible()
    expect(page.locator("#text")).to_have_value("Tom gave the ball to")
    expect(page.locator("#tabs")).to_be_hidden()
    link = page.locator("#whole")
    expect(link).to_be_visible()
    expect_true(lambda: "embed" not in (link.get_attribute("href") or "embed"))


@pytest.mark.slow
def test_what_is_typed_is_told_once_and_stays_behind_the_hash(
    visitor: Visitor, address: str
) -> None:
    page = visitor.open(address)
    type_at_end(page, " Mary")
    expect(page.locator("#said")).to_contain_text("16 tokens")
    expect_true(lambda: page.evaluate("location.hash").endswith("to+Mary"))
    assert not any("to+Mary" in url.split("#")[0] for url in visitor.asked)


@pytest.fixture(scope="module")
def planes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    site = tmp_path_factory.mktemp("planes")
    write_site(site, [live_model("minilm", languages=("en",))], ("en",))
    with served(site) as url:
        yield url


@pytest.mark.slow
def test_8_bit_weights_say_so_until_the_exact_ones_are_there(planes: str, browser: Browser) -> None:
    context = browser.new_context(service_workers="block")
    visitor = Visitor(context)
    badges = """addEventListener("DOMContentLoaded", () => {
        window.avBadges = [];
        new MutationObserver(() => avBadges.push(document.getElementById("badge").dataset.state))
            .observe(document.getElementById("badge"), { attributes: true });
    })"""
    visitor.page.add_init_script(badges)
    page = visitor.open(planes)
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")
    expect_true(lambda: page.evaluate("[...new Set(avBadges)].join()") == "coarse,open,ok")
    low = sum("low" in url for url in visitor.asked)
    assert low == len({url for url in visitor.asked if "low" in url}) == 121  # layers, 120 shards
    context.close()


@pytest.mark.slow
def test_a_key_goes_first_while_the_looks_of_a_sentence_are_cut(
    planes: str, browser: Browser
) -> None:
    context = browser.new_context(service_workers="block")
    page = Visitor(context).open(f"{planes}?view=stage")
    waiting = page.locator(".stage-square:disabled")
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")
    expect(waiting).to_have_count(0, timeout=60_000)  # as they come, without a word of the visitor
    type_at_end(page, " a")
    expect_true(lambda: 0 < waiting.count() < 72)
    for key in "bcdefgh":  # each in the text before its cuts are there
        page.keyboard.type(key)
        before = page.locator("#view").get_attribute("data-shown")
        expect(page.locator("#view")).not_to_have_attribute("data-shown", before or "")
    assert waiting.count()
    expect(page.locator("#text")).to_have_value(re.compile(r"tired\. abcdefgh$"))
    expect(page.locator("#status")).to_contain_text("20 tokens")
    expect(waiting).to_have_count(0, timeout=60_000)
    context.close()


@pytest.mark.slow
def test_a_visitor_who_saves_data_is_asked_before_more_is_loaded(
    planes: str, browser: Browser
) -> None:
    context = browser.new_context(service_workers="block")
    visitor = Visitor(context)
    saves = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
    visitor.page.add_init_script(saves)
    page = visitor.open(planes)
    expect(page.locator("#exact")).to_be_visible()
    expect(page.locator("#badge")).to_have_attribute("data-state", "coarse")
    expect(page.locator("#said")).not_to_be_empty()  # typing has rested
    assert not any("low" in url for url in visitor.asked)
    page.locator("#exact").click()
    expect(page.locator("#badge")).to_have_attribute("data-state", "ok")
    context.close()
