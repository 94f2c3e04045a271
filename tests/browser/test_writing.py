"""What a model wrote is played back in the browser, on every page, without a message."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, WebSocketRoute, expect

import attnviz
from attnviz.attention.capture import Capture
from attnviz.capture.generation.settings import Generation
from attnviz.outputs.next_token import distribution
from tests.browser.conftest import OpenVisit, Tiny
from tests.support import folders
from tests.support.browser import accessibility_problems
from tests.support.canvas import Palette
from tests.support.visit import Visit, data, expect_data, main_text

TEXT = "the cat sat on"
GIVEN, WRITTEN = 4, 9
# of chips, once they have faded in
COLOURS = """async (nodes) => {
  await Promise.all(nodes.flatMap((node) => node.getAnimations()).map((each) => each.finished));
  return nodes.map((node) => getComputedStyle(node).backgroundColor);
}"""
HOT = {"temperature": 1.5, "top_k": 9, "top_p": 0.9, "seed": 4}


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A tiny decoder."""
    return tiny("gpt2")


@pytest.fixture(scope="module")
def capture(folder: Path) -> Capture:
    how = Generation(WRITTEN + 1, **HOT)  # type: ignore[arg-type]
    found = attnviz.capture(attnviz.load(str(folder)), TEXT, generate=how)
    assert found.n_generated == WRITTEN
    return found


@pytest.fixture
def play(visit: OpenVisit, tiny_server: str, folder: Path) -> OpenVisit:
    """Opens a page on the text that the tiny decoder has written."""

    def opened(path: str, **options: object) -> Visit:
        found = visit(
            path,
            url=tiny_server,
            **{"text": TEXT, "model": folder, "generate": WRITTEN, **HOT, **options},
        )
        expect(player(found)).to_be_visible()
        return found

    return opened


def player(visit: Visit) -> Locator:
    return visit.page.locator(".av-writing")


def press(visit: Visit, name: str) -> None:
    visit.page.get_by_role("button", name=name, exact=True).click()


def shown(visit: Visit) -> list[str]:
    """The tokens that can be seen."""
    chips = visit.page.locator(".av-text .av-chip:not(.av-unwritten)")
    return [re.sub(r" \(written by the model\)$", "", each) for each in chips.all_text_contents()]


def test_it_plays_to_the_end_without_a_message(play: OpenVisit, capture: Capture) -> None:
    opened = play("output")
    assert shown(opened) == list(capture.tokens.labels)
    before = len(opened.seen.sent)
    opened.page.get_by_role("radio", name="fast").click()
    press(opened, "Play")
    expect_data(player(opened), playing="", step=0)
    assert shown(opened) == list(capture.tokens.labels[:GIVEN])
    expect_data(player(opened), step=WRITTEN, playing=None)
    assert shown(opened) == list(capture.tokens.labels)
    opened.wait_for_parameters(query=GIVEN + WRITTEN - 1)
    assert opened.seen.sent[before:] == []


def test_space_pauses_and_arrows_step(play: OpenVisit, capture: Capture) -> None:
    opened = play("output")
    before = len(opened.seen.sent)
    text = opened.page.locator(".av-text")
    text.focus()
    keyboard = opened.page.keyboard
    keyboard.press("Home")
    expect_data(player(opened), step=0)
    keyboard.press(" ")
    expect_data(player(opened), step=1)
    keyboard.press(" ")
    expect_data(player(opened), playing=None)
    step = int(data(player(opened))["step"])
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowLeft")
    expect_data(player(opened), step=step + 1)
    assert shown(opened) == list(capture.tokens.labels[: GIVEN + step + 1])
    keyboard.press("Shift+ArrowLeft")
    expect_data(text, query=GIVEN + step - 1)
    keyboard.press("End")
    expect_data(player(opened), step=WRITTEN)
    assert opened.seen.sent[before:] == []


def test_the_row_lies_over_the_text(
    play: OpenVisit, capture: Capture, palettes: dict[str, Palette]
) -> None:
    opened = play("output", layer=1, head=2, query=GIVEN + 3)
    expect_data(player(opened), step=4)
    weights = capture.weights(1)[:, GIVEN + 3]
    chips = opened.page.locator(".av-text .av-chip")

    def colours() -> list[tuple[int, ...]]:
        found: list[str] = chips.evaluate_all(COLOURS)
        return [tuple(map(int, re.findall(r"\d+", colour)[:3])) for colour in found]

    for key, colour in enumerate(colours()[: GIVEN + 4]):
        near = {
            c for w in (0.98, 1, 1.02) for c in palettes["light"].of_weight(weights[2, key] * w)
        }
        reach = [max(abs(a - b) for a, b in zip(colour, other, strict=True)) for other in near]
        assert min(reach) <= 8, (key, colour, near)
    opened.page.get_by_label("mean of all heads of the layer").check()
    expect_data(opened.page.locator(".av-text"), mean="")
    mean = weights.mean(0)
    for key, colour in enumerate(colours()[: GIVEN + 4]):
        near = {c for w in (0.98, 1, 1.02) for c in palettes["light"].of_weight(mean[key] * w)}
        reach = [max(abs(a - b) for a, b in zip(colour, other, strict=True)) for other in near]
        assert min(reach) <= 8, (key, colour, near)


def test_the_bars_are_what_the_token_was_drawn_from(play: OpenVisit, capture: Capture) -> None:
    opened = play("output", query=GIVEN + 2)
    assert capture.logits is not None
    asked = {name: HOT[name] for name in ("temperature", "top_k", "top_p")}
    of = distribution(capture.logits[0], **asked)  # type: ignore[arg-type]
    position, drawn = GIVEN + 1, int(capture.tokens.ids[GIVEN + 2])
    expect_data(opened.page.locator(".av-draw-bars"), position=position)
    rows = opened.page.locator(".av-bar")
    order = of.before[position].argsort()[::-1][:12]
    values = [float(data(row)["value"]) for row in rows.all()[:12]]
    assert values == pytest.approx([float(of.after[position][token]) for token in order], rel=1e-4)
    marked = opened.page.locator(".av-bar-marked")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text(f"{capture.tokens.labels[GIVEN + 2]} (drawn)")
    rank = 1 + int((of.before[position] > of.before[position][drawn]).sum())
    expect(opened.page.locator(".av-drawn")).to_contain_text(f"rank {rank} of {folders.VOCAB}")
    left = int((of.after[position] > 0).sum())
    expect(opened.page.locator(".av-writing-right")).to_contain_text(
        f"{left} of {folders.VOCAB} tokens can be drawn"
    )
    opened.page.get_by_role("radio", name="What follows it").click()
    expect_data(opened.page.locator(".av-draw-bars"), position=GIVEN + 2)
    # the token after the newest one is not written yet: nothing may give it away
    expect(marked).to_have_count(0)


@pytest.mark.parametrize("path", ["", "head"])
def test_the_row_follows_on_the_same_page(play: OpenVisit, path: str) -> None:
    opened = play(path, layer=1, head=1)
    canvas = opened.canvas("Attention weights of")
    before = len(opened.seen.sent)
    press(opened, "To the start")
    expect_data(canvas, query=GIVEN - 1)
    press(opened, "One token on")
    press(opened, "One token on")
    expect_data(canvas, query=GIVEN + 1, layer=1, head=1)
    opened.wait_for_parameters(query=GIVEN + 1, key=None)
    assert opened.seen.sent[before:] == []


def test_the_row_follows_in_steps(play: OpenVisit) -> None:
    opened = play("steps", layer=1, head=1)
    before = len(opened.seen.sent)
    press(opened, "One token back")
    expect_data(opened.page.locator(".steps"), query=GIVEN + WRITTEN - 2)
    assert opened.seen.sent[before:] == []


def test_the_player_follows_the_heatmap(play: OpenVisit) -> None:
    opened = play("head", layer=1, head=1)
    opened.canvas("Attention weights of").focus()
    opened.page.keyboard.press("ArrowDown")  # the first row
    opened.page.keyboard.press("]")
    expect_data(player(opened), query=0, step=WRITTEN)
    opened.wait_for_parameters(query=0, head=2)
    opened.page.goto(opened.page.url.replace("query=0", f"query={GIVEN + 1}"))
    expect_data(player(opened), query=GIVEN + 1, step=2)


def test_a_step_is_in_the_links_to_other_pages(play: OpenVisit) -> None:
    opened = play("output")
    press(opened, "One token back")
    query = GIVEN + WRITTEN - 2
    links = opened.page.get_by_test_id("stPageLink-NavLink")
    links.filter(has_text="Head").click(delay=50)
    expect_data(opened.canvas("Attention weights of"), query=query)
    # a choice that two components made in turn is the newest one's
    press(opened, "One token on")
    links.filter(has_text="Overview").click(delay=50)
    expect(opened.canvas("All heads of")).to_be_visible()
    expect_data(opened.canvas("Attention weights of"), query=query + 1)
    press(opened, "One token back")
    links.filter(has_text="Head").click(delay=50)
    expect_data(opened.canvas("Attention weights of L"), query=query, rows=GIVEN + WRITTEN)


def test_a_busy_server_loses_no_step(play: OpenVisit) -> None:
    """The server is at work when it is told of a step, and a link is clicked at once."""
    opened = play("output", fresh=True)
    held: list[str | bytes] = []
    servers: list[WebSocketRoute] = []
    holding = False

    def route(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        servers.append(server)
        socket.on_message(lambda message: held.append(message) if holding else server.send(message))

    opened.page.route_web_socket("**/_stcore/stream", route)
    opened.page.reload()
    expect(player(opened)).to_be_visible()
    app = opened.page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning")
    holding = True
    opened.page.locator("body").press("r")  # all is to run again
    press(opened, "One token back")
    links = opened.page.get_by_test_id("stPageLink-NavLink")
    links.filter(has_text="Head").click(delay=50)
    opened.page.wait_for_timeout(300)
    assert len(held) >= 2
    holding = False
    for message in held:
        servers[-1].send(message)
    expect_data(opened.canvas("Attention weights of"), query=GIVEN + WRITTEN - 2)


def test_writing_starts_with_a_button(visit: OpenVisit, tiny_server: str, folder: Path) -> None:
    opened = visit("output", url=tiny_server, text=TEXT, model=folder)
    expect(opened.page.locator(".av-player")).to_have_count(0)
    opened.page.locator(".av-text .av-chip").nth(1).click()
    expect_data(opened.page.locator(".av-draw-bars"), position=1)
    press(opened, "Let it write 20 tokens")
    expect(opened.page.locator(".av-player")).to_be_visible()
    assert "tokens that the model wrote" in main_text(opened)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", ["output", pytest.param("", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(play: OpenVisit, path: str, scheme: str) -> None:
    opened = play(path, layer=1, head=2, query=GIVEN + 2, scheme=scheme)
    assert accessibility_problems(opened.page) == []


def test_a_narrow_window_keeps_all_in_sight(play: OpenVisit) -> None:
    opened = play("output")
    opened.page.set_viewport_size({"width": 700, "height": 900})
    box = opened.page.locator(".av-writing-right")
    expect(opened.page.locator(".av-writing-narrow")).to_be_visible()
    place = box.bounding_box()
    assert place is not None
    assert place["x"] + place["width"] <= 700
