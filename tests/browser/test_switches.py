"""The page Switches in a browser: a click moves the bars, undo and a link bring them back."""

from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit
from tests.support.hostile import TEXT as HOSTILE
from tests.support.hostile import escaped
from tests.support.waiting import eventually, expect_equal, expect_true

REPEATED = "Tom garden ball river Anna bread Tom garden ball river Anna bread"
STORE = "When Mary and John went to the store, John gave a book to"


def test_a_click_switches_a_head_and_the_answer_follows(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=STORE)
    page = opened.page
    head, said = page.locator("[data-head='L0.H0']"), page.locator(".av-switches-now .av-sentence")
    expect(head).to_have_attribute("aria-checked", "true")
    expect(said).to_contain_text("Mary (99.3%)")
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()  # nothing was done yet
    page.get_by_role("button", name="Switch all of L0.H0 off").click()
    expect(head).to_have_attribute("aria-checked", "false")
    expect(said).to_contain_text("but John")
    opened.wait_for_parameters(changes="L0.H0.mixed=mean")
    expect(page.locator(".av-switches .av-bar-tick").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("[data-head='L1.H0']")).to_have_attribute("aria-checked", "false")
    expect(said).to_contain_text("L0.H0, L1.H0")
    page.get_by_role("button", name="Undo").click()
    expect(said).to_contain_text("With all of L0.H0 off (the mean instead)")
    page.get_by_role("button", name="All on").click()
    expect(said).to_contain_text("All heads on")
    opened.wait_for_parameters(changes="none")
    page.get_by_role("button", name="Open L1.H0").click()
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    opened.wait_for_parameters(layer="1", head="0")


@pytest.mark.slow
def test_a_click_on_a_word_forbids_the_look_at_it(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=STORE)
    page = opened.page
    page.locator(".av-words-box summary").click()
    mary = page.locator("[data-word='2']")
    expect(mary).to_have_attribute("aria-label", "Mary: +1.49. Forbid this look")
    mary.focus()
    page.keyboard.press("Enter")
    expect(mary).to_have_attribute("aria-pressed", "true")
    opened.wait_for_parameters(word="@2")
    expect(mary).to_be_focused()
    page.locator("[data-through='L2.H1']").click()
    opened.wait_for_parameters(word=None, forbid="14.2", layer="2", head="1", key="2")
    expect(page.locator(".av-words-said")).to_contain_text("Really forbidden:")
    expect(page.locator(".av-switches .av-switches-now")).to_contain_text("L2.H1’s look at “Mary”")
    page.get_by_label("Through").select_option("L2.H2")
    opened.wait_for_parameters(forbid="14.2", layer="2", head="2")
    mary.click()
    expect(mary).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".av-words-heads")).to_have_count(0)


@pytest.mark.slow
def test_from_a_whole_head_one_click_leads_to_its_look_as_start_forbids_it(
    visit: OpenVisit,
) -> None:
    opened = visit("switches", model="stories", text=STORE, changes="L2.H1.mixed=mean")
    page = opened.page
    said = page.locator(".av-switches-now .av-sentence")
    whole = "With all of L2.H1 off (the mean instead), the answer stays Mary (99.3% → 44.5%)."
    expect(said).to_have_text(whole)
    page.get_by_role("button", name="Forbid only L2.H1’s look at “Mary”").click()
    opened.wait_for_parameters(changes="none", forbid="14.2", head="1", key="2")
    expect(said).to_contain_text("With L2.H1’s look at “Mary” forbidden, the answer is no longer")
    expect(said).to_contain_text("(99.3% → 4.9%) but John (55.")  # the numbers of Start
    head = page.locator("[data-head='L2.H1']")
    expect(head).to_have_attribute("aria-checked", "true")
    forbidden = "L2.H1’s look at “Mary” is forbidden; the rest of it is on."
    expect(head).to_have_attribute("aria-label", forbidden)
    expect(page.locator(".av-switches-facts")).to_contain_text(forbidden)
    expect(page.locator(".av-switches-facts")).not_to_contain_text(
        "matters"
    )  # all of the head does
    expect(page.locator(".strip-answer")).to_contain_text("Mary 99% → John 55%")
    page.get_by_role("button", name="All on").click()
    expect(said).to_contain_text("All heads on")
    opened.wait_for_parameters(forbid=None)
    offered = page.locator(".av-switches-says")
    expect(offered.get_by_role("button", name="Switch all of L0.H0 off")).to_contain_text(
        "moves most:"
    )
    expect(offered.get_by_role("button", name="Forbid L2.H1’s look")).to_contain_text(
        "94.4 points;"
    )
    expect(offered).to_contain_text("weight goes mostly to “John (10)”, passed on instead.")
    pressed = page.locator(".av-strip .av-chip[aria-pressed='true']")
    page.locator(".av-strip .av-chip").nth(10).click()
    expect(pressed).to_have_text("John")
    opened.wait_for_parameters(query="10")
    page.locator(".av-strip .av-chip").nth(2).click(modifiers=["Shift"])
    ours = page.get_by_role("button", name="Forbid L2.H1’s look from “John (10)” at “Mary”")
    ours.click()  # the row that was chosen in the line, though it does not make the answer
    expect(said).to_contain_text("L2.H1’s look from “John (10)” at “Mary” forbidden")
    opened.wait_for_parameters(forbid="10.2", layer="2", head="1", query="10", key="2")
    page.get_by_role("button", name="All on").click()
    expect(ours).to_be_visible()
    page.get_by_role("button", name="Forbid L2.H1’s look at “Mary”").press("Enter")
    opened.wait_for_parameters(forbid="14.2", layer="2", head="1")
    expect(page.get_by_role("button", name="All on")).to_be_focused()
    expect(pressed).to_have_text(["Mary", "to"])  # the line shows which look that is


def test_the_panel_follows_a_row_while_the_pointer_stays_on_its_word(visit: OpenVisit) -> None:
    page = visit("switches", model="stories", text=STORE, layer=2, head=1, query=1, key=2).page
    facts, bar = page.locator(".av-switches-facts"), page.locator(".av-switches-looks")
    expect(facts).to_contain_text("When cannot look at Mary: the mask hides it.")
    expect(bar).to_have_count(0)  # no head has one
    page.locator(".av-strip .av-chip").nth(14).click()
    expect(facts).to_contain_text("to looks at Mary")
    expect(bar).to_have_text("looks at Mary")
    page.locator(".av-strip .av-chip").nth(10).click()
    expect(facts).to_contain_text("John looks at")


def test_a_row_that_was_chosen_is_kept_while_the_app_runs_again(visit: OpenVisit) -> None:
    """Such a run writes the row before into the address; a reload shows the new row."""
    opened = visit("switches", model="stories", text=STORE, layer=2, head=1, query=14)
    page = opened.page
    facts, row = page.locator(".av-switches-facts"), page.locator(".av-strip .av-chip").nth(5)
    expect(facts).to_contain_text("to looks at Mary")
    row.click()
    # without the pointer, which would tell the row first: as a key or a voice presses it
    page.get_by_role("button", name="Paths between heads").evaluate("(door) => door.click()")
    opened.wait_for_parameters(query="5", paths="1")
    expect(facts).to_contain_text("went looks at")
    expect(row).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(facts).to_contain_text("went looks at")
    opened.wait_for_parameters(query="5", paths="1")


def test_a_forbidden_look_is_undone_and_another_row_allows_it_in_words(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=STORE)
    page = opened.page
    said, undo = (
        page.locator(".av-switches-now .av-sentence"),
        page.get_by_role("button", name="Undo"),
    )
    forbid = page.get_by_role("button", name="Forbid L2.H1’s look at “Mary”")
    forbid.click()
    expect(said).to_contain_text("With L2.H1’s look at “Mary” forbidden")
    undo.click()
    expect(said).to_contain_text("All heads on")
    opened.wait_for_parameters(forbid=None)
    expect(undo).to_be_hidden()
    forbid.click()
    expect(said).to_contain_text("With L2.H1’s look at “Mary” forbidden")
    page.locator(".av-strip .av-chip").nth(10).click()
    expect(page.get_by_text("The look from “to (14)” at “Mary” is allowed again")).to_be_visible()
    undo.click()
    opened.wait_for_parameters(forbid="14.2", layer="2", head="1", query="14", key="2")


def test_a_phone_shows_whole_rows_of_before_and_after(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=STORE, word="L2.H1@2")
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".av-switches-narrow .av-bars-heading")).to_contain_text("before")
    cut = """(list) => [...list.querySelectorAll(".av-bar")].filter((row) => {
      const [{ top, bottom }, box] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
      return top < box.bottom - 1 && bottom > box.bottom + 1;
    }).length"""
    bars = page.locator(".av-switches-now .av-bars")
    expect_equal(lambda: bars.evaluate(cut), 0)
    bars.evaluate("(list) => list.scrollBy(0, 31)")
    expect_equal(lambda: bars.evaluate(cut), 0)


def test_on_a_phone_the_verdict_stands_above_the_answer_and_no_text_is_cut(
    visit: OpenVisit,
) -> None:
    cell = {"layer": 2, "head": 1, "query": 14, "key": 2, "lang": "ja"}
    page = visit("switches", model="stories", text=STORE, changes="L2.H1.mixed=mean", **cell).page
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".av-switches-narrow")).to_be_visible()

    def bottom(selector: str) -> float:
        box = page.locator(selector).bounding_box()
        assert box is not None
        return box["y"] + box["height"]

    def stands_above() -> bool:
        answer = page.locator(".av-switches-now").bounding_box()
        return answer is not None and bottom(".av-switches-facts > b") <= answer["y"]

    expect_true(stands_above)
    wide = (
        "(node) => node.scrollWidth > node.clientWidth || node.getBoundingClientRect().right > 391"
    )
    expect_true(lambda: not page.locator(".av-switches-says").evaluate(wide))


def test_no_cut_line_touches_the_answer_that_stays_in_sight(visit: OpenVisit) -> None:
    """On a phone text goes on below the answer: what is right above that is empty, at any place."""
    page = visit("switches", model="stories", text=STORE, changes="L0.H0.mixed=mean").page
    page.set_viewport_size({"width": 390, "height": 844})
    answer = page.locator(".av-switches-narrow .av-switches-now")
    expect(answer).to_contain_text("With all of L0.H0 off")

    def is_empty_above() -> None:
        box = answer.bounding_box()
        assert box is not None
        clip = {"x": box["x"], "y": box["y"] - 12, "width": box["width"], "height": 11}
        shot = Image.open(BytesIO(page.screenshot(clip=clip)))  # type: ignore[arg-type]
        assert len(shot.convert("RGB").getcolors(10**5) or ()) == 1

    for top in (60, 67, 74, 81):  # a line has 20 px
        scroll = "(main, top) => { main.scrollTop = top; }"
        page.get_by_test_id("stMain").evaluate(scroll, top)
        eventually(is_empty_above)


def test_no_click_on_a_switch_is_lost_while_the_server_answers(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=STORE)
    page = opened.page
    heads = [f"L{layer}.H{head}" for layer in range(3) for head in (0, 1)]
    for head in heads:
        page.locator(f"[data-head='{head}']").click()
        page.wait_for_timeout(120)
    opened.wait_until(lambda: opened.parameters().get("changes", "").count("=mean") == len(heads))
    expect(page.locator(".av-switches [role=switch][aria-checked=false]")).to_have_count(len(heads))


@pytest.mark.slow
def test_hostile_text_stays_text_on_the_switchboard(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=HOSTILE)
    expect(opened.page.locator(".av-switches .av-bar").first).to_be_visible()
    assert escaped(opened.page) == []


@pytest.mark.slow
def test_what_was_switched_in_another_model_cannot_be_undone(visit: OpenVisit) -> None:
    opened = visit("switches", model="minilm")
    page = opened.page
    page.get_by_role("button", name="Switch all of L5.H11 off").click()
    expect(page.get_by_role("button", name="Open L5.H11")).to_be_visible()
    expect(page.locator("[data-head='L5.H11']")).to_be_in_viewport()
    page.get_by_role("button", name="See one head turn Mary into John").click()
    expect(page.locator(".av-switches-now .av-sentence")).to_contain_text("but John")
    expect(page.get_by_role("button", name="Open L5.H11")).to_be_hidden()
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()


@pytest.mark.slow
def test_a_head_says_if_it_looks_and_if_it_matters(visit: OpenVisit) -> None:
    cell = {"layer": 2, "head": 1, "query": 14, "key": 2}
    page = visit("switches", model="stories", text=STORE, **cell).page
    facts = page.locator(".av-switches-facts")
    expect(facts).to_contain_text("to looks at Mary 0.98; the head's other rows: 0.08.")
    expect(facts).to_contain_text("It looks; the whole head matters.")
    expect(page.locator(".av-switches-looks")).to_contain_text("Mary")  # what the bars are
    expect(page.locator(".av-switches-moves")).to_have_text(
        "off: probability moved (points, all answers)"
    )
    expect(page.locator("[data-head='L2.H1'] .av-switches-strip")).to_have_text("55")
    expect(facts).to_contain_text("The whole head off moves the answer 54.9 points")  # of one unit
    page.locator("[data-head='L2.H3']").hover()
    expect(facts).to_contain_text("to looks at Mary 0.77")
    expect(facts).to_contain_text("It looks; the whole head hardly matters.")
    page.locator("[data-head='L0.H0']").focus()
    expect(facts).to_contain_text("It hardly looks here; its other looks matter.")
    page = visit("switches", model="stories", text=STORE, **cell, changes="L0.H0.mixed=zero").page
    facts = page.locator(".av-switches-facts")
    expect(facts).to_contain_text("All of L0.H0 is off.")  # not L2.H1
    page.locator("[data-head='L2.H3']").click()  # what it does alone is no verdict on it now
    expect(facts).to_contain_text("Off beside the other changes, it moves the answer")
    expect(facts).to_contain_text("The whole head off moves the answer")
    expect(facts).not_to_contain_text("matters")
    page = visit("switches", model="stories", text=STORE, **cell, forbid="14.2").page
    facts = page.locator(".av-switches-facts")
    expect(facts).to_contain_text("to looks at Mary 0.98 0; the head's other rows: 0.08.")
    expect(facts).to_contain_text("Forbidden, this look moves the answer 94.4 points.")


def test_the_card_and_the_button_beside_it_are_of_one_head(visit: OpenVisit) -> None:
    """A head that is pointed at, or in focus, has the card for that long alone."""
    page = visit("switches", model="stories", text=STORE, layer=2, head=1, query=5).page
    facts, other = page.locator(".av-switches-facts"), page.locator("[data-head='L2.H2']")
    offered = page.get_by_role("button", name="Forbid L2.H1’s look from “went”")
    expect(offered).to_be_visible()
    expect(facts.locator("b").first).to_have_text("L2.H1")
    other.hover()
    expect(facts.locator("b").first).to_have_text("L2.H2")
    offered.hover()
    expect(facts.locator("b").first).to_have_text("L2.H1")
    other.focus()
    expect(facts.locator("b").first).to_have_text("L2.H2")
    offered.focus()
    expect(facts.locator("b").first).to_have_text("L2.H1")


TRACKS = "(tracks) => tracks.map((track) => track.clientWidth)"


@pytest.mark.slow
def test_bars_move_on_tracks_that_keep_their_width(visit: OpenVisit) -> None:
    page = visit("switches", model="stories", text=STORE).page
    tracks, fill = page.locator(".av-switches .av-bar-track"), page.locator(".av-bar-fill").first
    expect(tracks.first).to_be_visible()
    (before, *_) = tracks.evaluate_all(TRACKS)
    page.emulate_media(reduced_motion="no-preference")
    fill.evaluate("(node) => { Element.prototype.animate = () => { window.moved = true; }; }")
    page.locator("[data-head='L0.H0']").click()
    expect(page.locator(".av-switches-now .av-sentence")).to_contain_text("but John")
    expect_equal(lambda: {*tracks.evaluate_all(TRACKS)}, {before})
    expect_true(lambda: page.evaluate("() => window.moved"))


@pytest.mark.slow
def test_paths_lie_over_the_switches_and_the_answer_below_them(visit: OpenVisit) -> None:
    opened = visit("switches", model="stories", text=REPEATED)
    page = opened.page
    board = page.locator(".av-switches-boards")
    page.get_by_role("button", name="Paths between heads").click()
    arrows = board.locator(".av-path")
    expect(arrows).to_have_count(8)
    opened.wait_for_parameters(paths="1")
    board.locator("[data-path='L0.H1-L2.H1.k'] .av-path-line").dispatch_event("click")
    opened.wait_for_parameters(arrow="L0.H1-L2.H1.k")
    expect(page.locator(".av-circuit-title")).to_have_text("L0.H1 → L2.H1, keys")
    board.locator("[data-head='L2.H1']").click()
    expect(board.locator("[data-head='L2.H1']")).to_have_attribute("aria-checked", "false")
    expect(arrows).to_have_count(8)
    page.get_by_label("Paths of").select_option("L0.H0")
    opened.wait_for_parameters(arrow="L0.H0")
    ends = """(paths) => paths.every(({ dataset: { sender, receiver } }) =>
        [sender, receiver].includes('L0.H0'))"""
    expect_true(lambda: arrows.evaluate_all(ends))
    page.get_by_role("button", name="The whole answer").click()
    expect(page.get_by_text("The model's guess after each layer")).to_be_visible()
    expect(board.locator("[data-head='L2.H1']")).to_have_attribute("aria-checked", "false")
    page.get_by_role("button", name="Paths between heads").click()
    opened.wait_for_parameters(paths=None, answer="1")
    expect(arrows).to_have_count(0)


# the distance from each row of bars to the row before it, and from its name to its own track
ROWS = """(rows) => rows.slice(1).map((row, at) => {
    const [name, track] = [".av-bar-name", ".av-bar-track"].map((one) => row.querySelector(one));
    const before = rows[at].getBoundingClientRect();
    const gap = name.getBoundingClientRect().top - before.bottom;
    return Math.min(gap, track.getBoundingClientRect().top - name.getBoundingClientRect().bottom);
})"""


def test_on_a_phone_the_sentences_of_cosines_stand_over_their_bars(visit: OpenVisit) -> None:
    page = visit("switches", screen=(390, 844), lang="en", model="minilm").page
    rows = page.locator(".av-switches-sentences .av-bar")
    expect(rows).to_have_count(4)
    expect_true(lambda: min(rows.evaluate_all(ROWS)) >= 0)
    now = page.locator(".av-switches-now")
    height = "(now) => now.getBoundingClientRect().height"
    expect_true(lambda: 100 < now.evaluate(height) < 190)  # the board has the rest
