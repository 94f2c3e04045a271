"""The page Calculator: typed matrices become steps, and what makes no matrix stays in its box."""

import numpy as np
import pytest

from attnviz import i18n
from attnviz.app.session import widgets
from attnviz.teach.calculator import sheet as sheets
from attnviz.teach.calculator.code import numpy_code, torch_code
from attnviz.teach.calculator.presets import preset
from tests.pages.conftest import Visit, parameters, sent

KEY = widgets.key


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_it_opens_on_an_example_in_every_language(visit: Visit, lang: i18n.Language) -> None:
    app = visit("calculator", lang=lang)
    assert [title.value for title in app.title] == [i18n.text(lang, "page.calculator.title")]
    header, arrays = sent(app)
    assert arrays["weights"][0] == pytest.approx([0.0424, 0.2048, 0.3446, 0.2414, 0.1667], abs=6e-5)
    assert header["by_kernel"]
    made = preset("multihead")
    again = sheets.parse(sheets.write(made))
    assert [block.value for block in app.code] == [numpy_code(made), torch_code(made)]
    assert numpy_code(again) == numpy_code(made)
    assert KEY("text") not in [box.key for box in app.text_area]
    assert KEY(f"model.{lang}") not in [box.key for box in app.selectbox]  # no model is read
    assert not app.error


def test_typed_numbers_are_calculated_and_stand_in_the_address(visit: Visit) -> None:
    app = visit("calculator", lab="q=1,0;0,1~k=1,0;0,1~v=2,3;4,5~mask=causal~scale=none")
    _, arrays = sent(app)
    assert arrays["weights"][0].tolist() == [1, 0]
    app.text_area(key=KEY("lab.v")).set_value("10 20\n30, 40").run()
    header, arrays = sent(app)
    np.testing.assert_allclose(arrays["mixed"][0], [10, 20])
    share = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(
        arrays["mixed"][1],
        [30 * share + 10 * (1 - share), 40 * share + 20 * (1 - share)],
        rtol=1e-6,
    )
    assert "v=10,20;30,40" in parameters(app)["lab"]
    assert not app.error


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_what_makes_no_matrix_stays_with_the_reason(visit: Visit, lang: i18n.Language) -> None:
    app = visit("calculator", lang=lang, lab="q=1,0;0,1~k=1,0;0,1~v=2,3;4,5")
    app.text_area(key=KEY("lab.k")).set_value("1 0\n0 one").run()
    assert "one" in app.error[0].value
    assert app.text_area(key=KEY("lab.k")).value == "1 0\n0 one"
    _, arrays = sent(app)
    assert arrays["k"].tolist() == [[1, 0], [0, 1]]
    app.text_area(key=KEY("lab.k")).set_value("1 0\n0 2").run()
    assert not app.error
    assert sent(app)[1]["k"].tolist() == [[1, 0], [0, 2]]


def test_switching_to_q_k_v_keeps_the_numbers(visit: Visit) -> None:
    app = visit("calculator", lang="en")
    before = sent(app)[1]
    app.selectbox(key=KEY("lab.source.en")).set_value("qkv").run()
    after = sent(app)[1]
    for name in ("q", "k", "v", "weights", "projected"):
        np.testing.assert_allclose(after[name], before[name], atol=1e-6)
    assert "x" not in after
    app.selectbox(key=KEY("lab.mask_kind.en")).set_value("custom").run()
    app.text_area(key=KEY("lab.mask")).set_value("\n".join(["0 1 1 1 1"] * 5)).run()
    assert (sent(app)[1]["weights"][:, 0] == 0).all()
    assert not app.error


def test_a_sheet_of_nonsense_is_replaced(visit: Visit) -> None:
    app = visit("calculator", lab="q=<script>")
    assert "lab" in app.warning[0].value
    assert not app.error
