"""The live widget in a browser: its module with a model like a notebook's, and its Python half."""

import base64
import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

import attnviz
from attnviz.notebook.selection import PageSelection
from attnviz.notebook.widget import SCRIPT, LiveWidget
from attnviz.pictures.shared.bundle import join
from attnviz.types import HeadId
from tests.support.waiting import LIMIT_MS

# a model as notebooks give one to a widget; what it would send to the kernel waits in `sent`
MODEL = """
const listeners = new Map();
window.sent = [];
window.hear = (event, ...values) => (listeners.get(event) ?? []).forEach((tell) => tell(...values));
window.buffer = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const model = {
  get: (name) => state[name],
  set: (name, value) => (state[name] = value),
  save_changes: () => sent.push({ selection: state.selection }),
  send: (content) => sent.push({ content }),
  on: (event, tell) => listeners.set(event, [...(listeners.get(event) ?? []), tell]),
  off: (event, tell) => listeners.set(event, listeners.get(event).filter((old) => old !== tell)),
};
const el = document.querySelector("main");
window.end = %s.default.render({ model, el });
window.listening = () => [...listeners.values()].flat().length;
"""


class Notebook:
    """A page with the widget, and the way of messages between it and Python."""

    def __init__(self, page: Page, widget: LiveWidget) -> None:
        self.page, self.widget = page, widget
        self.answers: list[tuple[object, list[bytes]]] = []
        widget.send = lambda content, buffers: self.answers.append((content, buffers))
        names = ("page", "label", "height", "selection")
        state = json.dumps({name: widget.get_state()[name] for name in names})
        module = join({"widget": SCRIPT})
        page.set_content("<!doctype html><main></main>")
        page.evaluate(f"window.state = {state}")
        page.evaluate(f"() => {{ {module.script} {MODEL % module.entries['widget']} }}")

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    def exchange(self) -> None:
        """Carry what waits on either side to the other."""
        for message in self.page.evaluate("sent.splice(0)"):
            if "selection" in message:
                self.widget.set_state({"selection": message["selection"]})
            else:
                self.widget._handle_custom_msg(message["content"], [])
        for content, buffers in self.answers:
            texts = [base64.b64encode(data).decode() for data in buffers]
            self.page.evaluate(
                "([content, texts]) => hear('msg:custom', content, texts.map(buffer))",
                [content, texts],
            )
        self.answers.clear()

    def move(self) -> None:
        """Show in the browser what Python selected."""
        state = self.widget.get_state()["selection"]
        self.page.evaluate("(now) => { state.selection = now; hear('change:selection'); }", state)

    def wait(self, expression: str) -> None:
        """Wait until this is true in the page around the frame."""
        self.page.wait_for_function(expression)


@pytest.fixture(scope="module")
def capture() -> attnviz.Capture:
    return attnviz.capture("stories", "Lily gave the red ball to")


@pytest.fixture
def notebook(browser: Browser, capture: attnviz.Capture) -> Iterator[Notebook]:
    context = browser.new_context(offline=True)
    context.set_default_timeout(LIMIT_MS)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    widget = attnviz.show(capture, "head", "L2.H1", live=True)
    opened = Notebook(page, widget)
    expect(opened.frame.locator("#view[data-complete]")).to_be_attached()
    yield opened
    context.close()
    assert problems == []


def test_a_choice_in_the_picture_is_seen_in_python_and_the_other_way(notebook: Notebook) -> None:
    widget, frame = notebook.widget, notebook.frame
    expect(frame.locator(".av-head")).to_be_visible()
    seen: list[PageSelection] = []
    widget.observe(lambda change: seen.append(change["new"]), "selection")
    frame.locator(".av-head-left canvas[data-layer]").focus()
    notebook.page.keyboard.press("]")
    notebook.wait("sent.length > 0")
    notebook.exchange()
    assert seen and widget.selection.head == HeadId(2, 2)
    widget.select("L1.H3", query=4, key=2)
    notebook.move()
    expect(frame.locator(".av-head")).to_contain_text("L1.H3")
    assert notebook.page.evaluate("sent.length") == 0, "what Python chose is not sent back"
    widget.select("L1.H3", view="overview")
    notebook.move()
    expect(frame.locator("[data-component=grid]")).to_be_visible()


def test_the_kernel_derives_the_steps_of_a_head_that_is_opened(notebook: Notebook) -> None:
    frame = notebook.frame
    notebook.widget.select("L3.H0", view="steps")
    notebook.move()
    notebook.wait("sent.length > 0")
    notebook.exchange()
    expect(frame.locator("[data-component=steps] [data-pick=layer]")).to_have_value("3")
    frame.locator("[data-step=head1]").click()
    notebook.wait("sent.some((message) => message.content)")
    notebook.exchange()
    expect(frame.locator(".panel[data-stage=weights] canvas[data-drawn]").first).to_be_visible()
    expect(frame.locator("[data-component=steps] [data-pick=head]")).to_have_value("1")
    assert notebook.widget.selection == PageSelection(HeadId(3, 1), view="steps")


def test_a_widget_that_is_taken_away_listens_no_more(notebook: Notebook) -> None:
    assert notebook.page.evaluate("listening()") == 2
    notebook.page.evaluate("end()")
    assert notebook.page.evaluate("listening()") == 0
