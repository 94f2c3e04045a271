"""The live training: it starts, ends, can be scrubbed, and its heads can be taken away."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.page_parts.learn import birth as live
from attnviz.app.server import trainings
from attnviz.app.session import widgets
from attnviz.teach.course import toy_model
from tests.pages.conftest import TIMEOUT_S, sent
from tests.support.waiting import expect_true

KEY = widgets.key
STEPS = 40
SEED = 998


def app_of_training() -> None:
    from attnviz.app.page_parts.learn import birth

    birth.show("en", 998)


def app_of_ablation() -> None:
    from attnviz.app.page_parts.learn import birth
    from attnviz.app.session import store

    store.put("birth.998", 1)
    birth.show("en", 998, "ablation")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training of two snapshots after the first; the app keeps nothing of an earlier one."""
    monkeypatch.setattr(toy_model, "STEPS", STEPS)
    trainings.forget(SEED)


def trained() -> AppTest:
    app = AppTest.from_function(app_of_training, default_timeout=TIMEOUT_S).run()
    app.button(key=KEY(f"birth.{SEED}")).click().run()
    expect_true(lambda: trainings.training(SEED).job.over)
    return app.run()


def test_a_training_is_shown_moment_by_moment(short: None) -> None:
    app = trained()
    assert not app.exception
    slider = app.select_slider(key=KEY(f"birth.{SEED}.moment"))
    assert slider.options == ["0", "20", "40"]
    header, arrays = sent(app)
    last = trainings.training(SEED).snapshots[-1]
    tokens = toy_model.encode(toy_model.example())
    weights = toy_model.attention(toy_model.restore(last), tokens)
    heads = (last.repeated.previous_head, last.repeated.induction_head)
    for place, head in enumerate(heads):
        np.testing.assert_allclose(
            arrays[f"panels.{place}.values"], weights[head.layer, head.head], atol=1e-6
        )
        assert str(head) in header["panels"][place]["caption"]
    app.text_input(key=KEY("birth.letters")).set_value("A1").run()
    assert app.error
    app.text_input(key=KEY("birth.letters")).set_value("abcabc").run()
    assert not app.error
    assert sent(app)[0]["panels"][0]["rows"] == list("ABCABC")


@pytest.mark.slow
def test_heads_are_taken_away_one_by_one(short: None) -> None:
    assert not trained().table  # the card that asks comes later
    app = AppTest.from_function(app_of_ablation, default_timeout=TIMEOUT_S)
    app.run()
    (table,) = app.table
    found = live.ablations(trainings.training(SEED))
    assert len(table.value) == 1 + len(found.without)
    column = i18n.text("en", "birth.induction")
    assert table.value[column].tolist()[0] == f"{found.before.best_induction:.2f}"


def test_a_stopped_training_can_be_begun_again(short: None) -> None:
    app = AppTest.from_function(app_of_training, default_timeout=TIMEOUT_S).run()
    trainings.training(SEED).job.stop()
    expect_true(lambda: trainings.training(SEED).job.over)
    if trainings.training(SEED).job.state == "stopped":
        app.button(key=KEY(f"birth.{SEED}")).click().run()
        assert [info.value for info in app.info] == [i18n.text("en", "birth.stopped")]
        app.button(key=KEY(f"birth.{SEED}.again")).click().run()
    assert trainings.training(SEED).job.state != "stopped"
    trainings.training(SEED).job.stop()


@pytest.mark.parametrize(("owner", "n_buttons"), [("somebody", 0), ("", 1)])
def test_only_who_began_a_training_may_stop_it(
    short: None, monkeypatch: pytest.MonkeyPatch, owner: str, n_buttons: int
) -> None:
    training = trainings.start(SEED, STEPS, lambda cancel: iter(cancel.wait, True))  # type: ignore[arg-type]
    training.owner = owner
    monkeypatch.setattr(trainings, "training", lambda *_: training)
    app = AppTest.from_function(app_of_training, default_timeout=TIMEOUT_S).run()
    app.button(key=KEY(f"birth.{SEED}")).click().run()
    assert len(app.get("progress")) == 1
    assert [each.key for each in app.button].count(KEY("birth.stop")) == n_buttons
    training.job.stop()
