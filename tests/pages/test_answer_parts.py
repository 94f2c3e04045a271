"""On Output what wrote an answer and from which tokens it comes; on Compare what a head carries."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from tests.pages.conftest import Visit
from tests.pages.test_inside import drawn_tables, number
from tests.support.hostile import TEXT as HOSTILE

STORE = "When Mary and John went to the store, John gave a drink to"
OTHER = "When Mary and John went to the store, Mary gave a drink to"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_parts_of_the_answer_stand_beside_effects(visit: Visit, lang: i18n.Language) -> None:
    app = visit("output", model="stories", text=STORE, lang=lang, parts="1", where="1")
    assert not app.error
    _, parts, where = drawn_tables(app)
    assert parts["caption"] == i18n.text(lang, "parts.title")
    on = attnviz.NextToken(" Mary", against=" John")
    direct = attnviz.experiment(attnviz.load("stories"), STORE, on=on).direct()
    rows = {row["label"]: row["cells"] for row in parts["rows"]}
    head = next(part.site for part in direct.components if str(part.site) == "L2.H1")
    assert number(rows["L2.H1"][0]["text"]) == pytest.approx(direct.of(head), abs=2e-3)
    assert rows["L2.H1"][0]["opens"] == "L2.H1"
    effects = attnviz.experiment(attnviz.load("stories"), STORE, on=on).effects()
    assert number(rows["L2.H1"][1]["text"]) == pytest.approx(effects.of("L2.H1"), abs=2e-3)
    assert where["columns"][0] == i18n.text(lang, "where.hidden")
    hidden = [number(row["cells"][0]["text"]) for row in where["rows"]]
    assert where["rows"][int(np.argmax(np.abs(hidden)))]["label"] == "Mary"


def test_a_guess_of_the_lens_opens_what_wrote_it(visit: Visit) -> None:
    app = visit("output", model="stories", text=STORE, parts="1", guess="9.5")
    lens, parts = drawn_tables(app)
    assert lens["chosen"] == "9.5"
    assert lens["rows"][9]["cells"][5]["opens"] == "9.5"
    said = " ".join(part.value for part in app.main.markdown)
    assert f"the logit of “**{lens['rows'][9]['cells'][5]['text']}**”" in said
    assert parts["rows"]


@pytest.mark.some(1)
@pytest.mark.parametrize("model", ["sentiment", "minilm"])
def test_parts_and_tokens_of_an_encoder(visit: Visit, model: str) -> None:
    app = visit("output", model=model, parts="1", where="1")
    assert not app.error
    tables = drawn_tables(app)
    assert [table["caption"] for table in tables[-2:]] == [
        i18n.text("en", "parts.title"),
        i18n.text("en", "where.title"),
    ]


@pytest.mark.slow
def test_a_guess_that_is_not_there_is_dropped(visit: Visit) -> None:
    app = visit("output", model="stories", text=HOSTILE, parts="1", where="1", guess="999.99")
    assert not app.error
    assert len(drawn_tables(app)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_compare_shows_the_head_that_carries_the_difference(
    visit: Visit, lang: i18n.Language
) -> None:
    app = visit("compare", model="stories", text=STORE, text_b=OTHER, patch="1", lang=lang)
    assert not app.error
    (board,) = drawn_tables(app)
    shares = np.array([[number(cell["text"]) for cell in row["cells"]] for row in board["rows"]])
    assert shares[0, 0] == shares.max() > 90
    assert board["rows"][0]["cells"][0]["opens"] == "L0.H0"
    (pattern,) = drawn_tables(
        visit("compare", model="stories", text=STORE, text_b=OTHER, patch="1", stage="weights")
    )
    assert abs(number(pattern["rows"][0]["cells"][0]["text"])) < 10


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_classified_text_shows_its_tokens_at_once(visit: Visit, lang: i18n.Language) -> None:
    app = visit("output", model="sentiment", lang=lang)
    assert not app.error
    table = drawn_tables(app)[0]
    assert table["caption"] == i18n.text(lang, "answer_tokens.title")
    cap = attnviz.capture("sentiment", "This is not a good film.")
    assert table["columns"] == list(cap.tokens.labels)
    weights, hidden = ([number(cell["text"]) for cell in row["cells"]] for row in table["rows"])
    last = cap.calls[-1].weights()[:, 0].mean(dim=0).numpy()
    assert weights == pytest.approx(last, abs=6e-4)
    strongest = {table["columns"][at] for at in np.argsort(np.abs(hidden))[-2:]}
    assert strongest == {"not", "good"}
    assert i18n.numbers.number(lang, 1 / len(last), ".2f") in table["note"]
    first, second = cap.logits[0].sort(descending=True).values[:2]
    assert i18n.numbers.number(lang, float(first - second), ".3f") in table["note"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["shapes", "minilm", "stories"])
def test_no_tokens_where_no_text_is_classified(visit: Visit, model: str) -> None:
    app = visit("output", model=model)
    assert not app.error
    assert i18n.text("en", "answer_tokens.title") not in [
        table["caption"] for table in drawn_tables(app)
    ]
