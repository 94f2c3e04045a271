"""Models on the operator's device and in the operator's type of numbers, on every page."""

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.frame import frame
from attnviz.app.server import sources
from attnviz.i18n import Language
from tests.pages.conftest import Visit
from tests.support import elsewhere
from tests.support.cases import mostly_slow

PAGES = ("overview", "head", "steps", "masks", "compare", "output")
VIEWS: dict[str, dict[str, str]] = {
    "gpt2": {"text": "the cat sat on a mat", "generate": "3"},
    "llama": {"text": "the cat sat on a mat"},
    "marian": {"text": "the cat sat", "target": "a dog ran"},
    "deberta": {"text": "the cat sat on a mat"},
    "forms": {"image": "landscape"},
    "swinv2": {"image": "landscape"},
    "whisper": {},
}
TOLERANCE = re.compile(r"tolerance ([0-9.e−]+)[;)]")
Tiny = Callable[[str], str]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose operator wants the models on a device that is not the CPU."""
    opened = frame.open_page

    def open_page(name: str) -> Language:
        elsewhere.enter()
        return opened(name)

    monkeypatch.setattr(frame, "open_page", open_page)
    monkeypatch.setenv(sources.DEVICE_VARIABLE, elsewhere.NAME)


def verified(app: AppTest) -> bool:
    said = i18n.catalogue("en")["verify.ok"].split("{")[0]
    return any(caption.value.startswith(said) for caption in app.caption)


WRITERS = ("gpt2", "marian")
SHOWN = [(page, model) for page in PAGES for model in VIEWS if model in WRITERS or page == "steps"]
QUICK = [("steps", "marian"), ("output", "gpt2")]


@pytest.mark.some(1)
@pytest.mark.parametrize(("page", "model"), mostly_slow(SHOWN, QUICK))
def test_a_page_shows_what_another_device_computes(
    visit: Visit, tiny: Tiny, simulated: None, page: str, model: str
) -> None:
    app = visit(page, model=tiny(model), **VIEWS[model])
    assert not app.error
    assert verified(app)


@pytest.mark.some(1)
@pytest.mark.parametrize("page", ["overview", "steps", "masks"])
def test_half_the_digits_are_said(
    visit: Visit, tiny: Tiny, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setenv(sources.DTYPE_VARIABLE, "bfloat16")
    app = visit(page, model=tiny("gpt2"), **VIEWS["gpt2"])
    assert not app.error
    assert verified(app)
    (tolerance,) = TOLERANCE.findall(" ".join(caption.value for caption in app.caption))
    assert 1e-3 < float(tolerance.replace("−", "-")) < 1  # with all digits it is below 1e-4


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        (sources.DEVICE_VARIABLE, "nowhere", "bad_device"),
        (sources.DTYPE_VARIABLE, "int3", "bad_dtype"),
    ],
)
def test_a_place_that_does_not_exist_is_said(
    visit: Visit, tiny: Tiny, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, code: str
) -> None:
    monkeypatch.setenv(variable, value)
    app = visit("head", model=tiny("gpt2"), text="the cat")
    (error,) = app.error
    assert error.value.startswith(i18n.catalogue("en")[f"error.{code}"].split("{")[0] + value)
    assert not visit("head", text="The cat").error  # the app's own models need no such place
