"""The page Atlas: the heads of a survey, one head's details, and a survey that a visitor opens."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import attnviz
from attnviz import i18n
from attnviz.app.page_parts import surveys
from attnviz.app.session import widgets
from attnviz.corpus import embedded, samples
from attnviz.i18n import numbers
from attnviz.types import HeadId
from attnviz.worlds import shapes
from tests.pages.conftest import Visit, component_name, sent
from tests.support.hostile import TEXT as HOSTILE

TEXTS = (
    "Tom gave the red ball to Anna. Anna gave the red ball to Tom.",
    "Lily had two cakes. Ben gave her one more.",
    "The dog was too tired, so the dog didn't run.",
    HOSTILE,
)


@pytest.fixture(autouse=True)
def few_texts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The survey is cheap, and counted here; no other test sees it."""
    surveys._counted_surveys.clear()
    monkeypatch.setattr(samples, "sample_texts", lambda lm: TEXTS if lm.kind == "decoder" else ())
    monkeypatch.setattr(embedded, "counted_weights", dict)
    yield
    surveys._counted_surveys.clear()


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_every_head_stands_where_the_survey_puts_it(visit: Visit, lang: i18n.Language) -> None:
    app = visit("atlas", lang=lang, model="stories", text=TEXTS[0], layer="2", head="1")
    assert not app.error
    assert [title.value for title in app.title] == [i18n.text(lang, "page.atlas.title")]
    assert component_name(app) == "attnviz.atlas"
    header, arrays = sent(app)
    survey = attnviz.survey("stories", TEXTS)
    table = survey.table()
    assert len(header["heads"]) == len(survey.heads) == 16
    assert np.allclose(arrays["points"][:, 0, 1], table["distance"])
    assert np.allclose(arrays["points"][:, 1, 2], table["entropy_high"])
    detail = header["detail"]
    assert detail["title"] == "L2.H1"
    assert [pair["tokens"] for pair in detail["pairs"]] == [
        [pair.query, pair.key] for pair in survey.pairs("L2.H1", 8)
    ]
    texts = {text for tenth in detail["deciles"] for text in tenth["texts"]}
    assert texts <= set(TEXTS) and len(texts) > 1
    assert np.allclose(arrays["detail.profile"], survey.profile("L2.H1"), equal_nan=True)
    row = survey.quantiles(attnviz.capture("stories", TEXTS[0]).table())
    percent = 100 * row["entropy"][survey.heads.index(HeadId(2, 1))]
    own = detail["rows"][7]["own"]
    assert f"{percent:.0f}" in own, "where the visitor's text lies among the survey's"


def test_a_text_that_is_padded_with_a_second_one_is_placed_alone(visit: Visit) -> None:
    """Its largest weights are those of its own rows; the mean with "Lily." lay elsewhere."""
    visit("atlas", model="stories", text=TEXTS[1])  # the survey is there now
    second = {"text2": "Lily ran.", "layer": "2", "head": "1"}
    app = visit("masks", model="stories", text=TEXTS[1], **second)
    (said,) = [caption.value for caption in app.caption if "4 texts" in caption.value]
    peak = float(attnviz.capture("stories", TEXTS[1]).weights(2, 1)[1:].max(1).mean())
    survey = attnviz.survey("stories", TEXTS)
    both = attnviz.capture("stories", [TEXTS[1], "Lily ran."])
    table = attnviz.capture("stories", TEXTS[1]).table(["peak", "entropy", "distance"])
    row = survey.heads.index(HeadId(2, 1))
    assert table["peak"][row] == pytest.approx(peak, abs=1e-5)
    placed, mean = survey.quantiles(table), survey.quantiles(both.table(["peak", "distance"]))
    shares = [round(100 * float(placed[name][row])) for name in ("peak", "entropy", "distance")]
    assert all(f"{share}%" in said for share in shares)
    assert float(mean["distance"][row]) != float(placed["distance"][row])


def test_the_axes_are_in_the_address_and_a_translator_has_no_atlas(visit: Visit) -> None:
    app = visit("atlas", model="stories", text=TEXTS[1], measure_x="previous", measure_y="peak")
    header, arrays = sent(app)
    assert header["axes"] == [i18n.text("en", f"measure.{name}") for name in ("previous", "peak")]
    survey = attnviz.survey("stories", TEXTS)
    assert np.allclose(arrays["points"][:, 0, 1], survey.table()["previous"])
    for page in ("overview", "head", "steps", "masks", "output"):
        app = visit(page, model="stories", text=TEXTS[1])
        said = [caption.value for caption in app.caption if "4 texts" in caption.value]
        assert len(said) == 1, f"{page}: the survey is there now"
    app = visit("atlas", model="translator")
    assert i18n.text("en", "atlas.not_here") in [info.value for info in app.info]


def test_a_survey_or_texts_of_the_visitors_are_read(tmp_path: Path) -> None:
    survey = attnviz.survey("stories", TEXTS)
    attnviz.save(survey, tmp_path / "mine.npz")
    read = surveys._read("mine.npz", (tmp_path / "mine.npz").read_bytes())
    assert repr(read) == repr(survey)
    assert surveys._read("mine.txt", b"one\n\ntwo\none\n") == ("one", "two")
    with pytest.raises(attnviz.BadInput, match=r"damaged\.npz") as raised:
        surveys._read("damaged.npz", b"PK no archive")
    assert raised.value.details["path"] == "damaged.npz"
    with pytest.raises(attnviz.BadInput, match="no text"):
        surveys._read("empty.txt", b"\n\n")


def test_an_embedded_model_opens_on_the_survey_that_it_comes_with(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    app = visit("atlas", model="stories-llama", text=TEXTS[0])
    assert not app.error and not app.get("progress")
    header, arrays = sent(app)
    survey = attnviz.survey("stories-llama")
    assert np.allclose(arrays["points"][:, 1, 1], survey.table()["entropy"])
    assert any("2,000" in caption.value for caption in app.caption)
    app.selectbox(widgets.key("match.en.stories-llama")).set_value("stories").run()
    assert not app.error
    detail = sent(app)[0]["detail"]
    row = survey.heads.index(HeadId.parse(detail["title"]))
    match = survey.matches(attnviz.survey("stories"))[row]
    assert f"stories: {match.other}, at distance {match.distance:.2f}" in detail["sentences"][-1]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["overview", "steps"])
def test_a_page_on_one_text_says_where_it_lies_among_the_surveys(visit: Visit, page: str) -> None:
    visit("atlas", model="stories", text=TEXTS[0])  # counts the survey
    app = visit(page, model="stories", text=TEXTS[0], layer="2", head="1")
    row = attnviz.survey("stories", TEXTS).quantiles(attnviz.capture("stories", TEXTS[0]).table())
    percent = 100 * float(row["entropy"][row.heads.index(HeadId(2, 1))])
    line = next(
        line.value
        for line in app.caption
        if "L2.H1" in line.value and "compared with" in line.value
    )
    assert f"{i18n.text('en', 'measure.entropy')} higher than in {percent:.0f}%" in line


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_atlas_of_a_model_of_pictures(
    visit: Visit, lang: i18n.Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveys, "N_PICTURES", 12)
    app = visit("atlas", model="shapes", lang=lang, layer="3", head="1", measure_y="first")
    assert not app.error
    header, _ = sent(app)
    named = {"en": "pictures", "ja": "画像", "ko": "이미지", "zh": "图片", "es": "imágenes"}[lang]
    most = numbers.number(lang, 2000)
    assert any(most in block.value and named in block.value for block in app.markdown)
    said = i18n.text(lang, "atlas.summary_pictures", model="shapes", texts=12, tokens="444")
    assert said in [caption.value for caption in app.caption]
    names = {f"sample-{number}" for number in range(1, 13)}
    drawn = [text for tenth in header["detail"]["deciles"] for text in tenth["texts"]]
    assert drawn and set(drawn) <= names
    own = {name: Image.fromarray(shapes.sample(int(name[7:])).picture()) for name in names}
    mean = attnviz.survey("shapes", own).table(["first"])["first"][13]
    rows = {row["label"]: row for row in header["detail"]["rows"]}
    assert rows[i18n.text(lang, "measure.first")]["mean"].startswith(f"{100 * mean:.1f}"[:2])
    app = visit("head", model="shapes", lang=lang)
    assert any("12" in caption.value and "L0.H0" in caption.value for caption in app.caption)


def test_lines_of_a_file_are_no_names_of_pictures_on_the_server(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (48, 48)).save(secret)
    opened = SimpleNamespace(get=lambda *_: (str(secret),))
    monkeypatch.setattr(surveys, "store", opened)
    app = visit("atlas", model="shapes")
    assert [error.value for error in app.error] == [
        i18n.text("en", "error.no_survey", name="shapes", kind="vision")
    ]


def test_a_head_is_taken_into_the_project_with_the_share_that_it_stands_out_by(
    visit: Visit,
) -> None:
    view = {"measure_x": "distance", "measure_y": "previous", "layer": "2", "head": "1"}
    app = visit("atlas", model="stories", text=TEXTS[0], **view)
    app.button(key=widgets.key("project.defend")).click().run()
    assert not app.exception and not app.error
    kept = app.session_state["attnviz.learn.project"]
    assert (kept.model, str(kept.name), kept.measure) == ("stories", "L2.H1", "previous")
    assert TEXTS[0] in kept.texts
