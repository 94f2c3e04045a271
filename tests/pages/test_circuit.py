"""The page Circuit: the strongest paths at first sight, and the cut of one beside its control."""

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.session import address_bar
from attnviz.experiment.paths import weights_without
from tests.pages.conftest import Visit, component_name, parameters, sent
from tests.support.hostile import TEXT as HOSTILE

REPEATED = "Tom garden ball river Anna bread Tom garden ball river Anna bread"
INDUCTION = "L0.H1-L2.H1.k"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_circuit_of_induction_is_the_first_sight(visit: Visit, lang: i18n.Language) -> None:
    app = visit("circuit", lang=lang, model="stories", text=REPEATED)
    assert not app.error
    assert [title.value for title in app.title] == [i18n.text(lang, "page.switches.title")]
    assert component_name(app) == "attnviz.circuit"
    header, arrays = sent(app)
    sender, receiver, side = np.unravel_index(np.nanargmax(arrays["moved"][:, :, :2]), (16, 16, 2))
    assert (sender, receiver, side) == (1, 9, 1)  # L0.H1 → the keys of L2.H1
    assert "L0.H1 → L2.H1" in header["summary"]
    assert "L0.H1 → L2.H2" in header["summary"]
    assert (header["chosen"], header["detail"]) == ("", None)
    assert not {"arrow", "least", "sides"} & set(parameters(app))


def test_a_link_shows_the_cut_of_a_path(visit: Visit) -> None:
    header, _ = sent(visit("circuit", model="stories", text=REPEATED, arrow=INDUCTION, sides="k"))
    assert (header["chosen"], header["sides"]) == (INDUCTION, "k")
    detail = header["detail"]
    cell = detail["cells"][0]
    run = attnviz.experiment("stories", REPEATED).prepared
    before, others = weights_without(run, ["L0.H1"], "L2.H1", cell["query"], cell["key"], "k")
    (after,) = others.values()
    assert cell["values"][:2] == [f"{before:.3f}", f"{after:.3f}"]
    assert before > 0.8 and after < 0.1 < float(cell["values"][2])  # the control leaves it
    said = " ".join(detail["sentences"])
    assert "from 7 other heads" in said and f"{after:.3f}" in said
    cut = attnviz.experiment("stories", REPEATED).cut("L0.H1", "L2.H1", "k")
    assert "replaced by its mean over 50 generated stories" in said
    drawn = 100 * cut.moved_by_chance[:4]  # those of the overview: one number, one range
    assert f"in a random direction, move {drawn.mean():.0f}% ({drawn.min():.0f}%" in said
    assert f"{drawn.max():.0f}% in 4 draws" in said
    assert "Its attention moves no more" not in said and "The answer moves no more" in said
    assert 0.5 * np.abs(cut.answer.after - cut.answer.before).sum() <= max(
        0.5 * np.abs(row - cut.answer.before).sum() for row in cut.answer_by_chance
    )
    chance = [0.5 * np.abs(row - cut.answer.before).sum() for row in cut.answer_by_chance]
    assert f"move {100 * np.median(chance):.1f}% at the median of 20 draws" in said
    change = cut.answer.after - cut.answer.before
    best = int(cut.answer.before.argmax())
    moves = f"{50 * np.abs(change).sum():.1f}% of the probability moves"
    assert moves in said
    points = f"{100 * change[best]:+.1f}".replace("-", "−")
    assert f" alone: {points} percentage points)" in said


def test_a_path_that_moves_no_more_than_chance_is_said_to(visit: Visit) -> None:
    run = attnviz.experiment("stories", REPEATED)
    paths = run.paths()
    weaker = [
        path
        for path in paths.strongest(paths.moved.size)
        if 0 < path.moved <= paths.chances(path)[1] and path.moved < 0.9 * paths.chance(path)
    ]
    first = weaker[0]
    arrow = f"{first.sender}-{first.receiver}.{first.side}"
    header, _ = sent(visit("circuit", model="stories", text=REPEATED, arrow=arrow))
    said = header["detail"]["sentences"]
    at = next(i for i, one in enumerate(said) if "in a random direction, move" in one)
    assert said[at + 1] == "Its attention moves no more than by chance."


def test_each_path_stands_beside_what_chance_moves(visit: Visit) -> None:
    header, arrays = sent(visit("circuit", model="stories", text=REPEATED))
    paths = attnviz.experiment("stories", REPEATED).paths()
    np.testing.assert_allclose(arrays["by_chance"], paths.by_chance, atol=1e-5)
    first = paths.strongest(1)[0]
    by_chance = f"{100 * paths.chance(first):.0f}%"
    low, high = (100 * end for end in paths.chances(first))
    beside = f"by chance {by_chance}, {low:.0f} to {high:.0f}% in 4 draws)"
    assert f"keys ({100 * first.moved:.0f}%, {beside}" in header["summary"]
    assert header["notes"][0].startswith(f"{100 * first.moved:.0f}% means: if L2.H1 takes its keys")
    assert "L0.H1 is replaced by its mean over 50 generated stories" in header["notes"][0]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["minilm", "translator"])
def test_a_path_of_every_kind_of_model_is_cut(visit: Visit, model: str) -> None:
    header, _ = sent(visit("circuit", model=model))
    heads = [[head["name"] for head in column["heads"]] for column in header["columns"]]
    path = f"{heads[0][0]}-{heads[-1][0]}.v"
    app = visit("circuit", model=model, arrow=path)
    assert not app.error
    assert sent(app)[0]["detail"]["cells"]


def test_the_graph_stands_alone_in_a_frame(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_bar, "is_embedded", lambda: True)
    app = visit("circuit", model="stories", text=HOSTILE)
    assert not app.error and not app.title and not app.button and not app.expander
    assert component_name(app) == "attnviz.circuit"
    [link] = app.get("link_button")
    assert "model=stories" in link.proto.url
    assert any("tolerance" in caption.value for caption in app.caption)


def test_what_makes_no_sense_is_dropped(visit: Visit) -> None:
    app = visit("circuit", model="stories", text=HOSTILE, arrow=HOSTILE, least="7", sides="x")
    assert not app.error
    header, _ = sent(app)
    assert (header["chosen"], header["least"], header["sides"]) == ("", None, "qk")
    header, _ = sent(visit("circuit", model="stories", text=REPEATED, arrow="L7.H7-L9.H9.k"))
    assert (header["chosen"], header["detail"]) == ("", None)


def test_a_path_that_runs_backwards_is_refused_in_words(visit: Visit) -> None:
    app = visit("circuit", model="stories", text=REPEATED, arrow="L2.H1-L0.H1.k")
    (error,) = app.error
    assert "must run after the sender" in error.value


@pytest.mark.slow
def test_what_could_be_read_is_the_composition_of_the_weights(visit: Visit) -> None:
    app = visit("circuit", model="stories-llama")
    _, arrays = sent(app)
    c = attnviz.circuits("stories-llama")
    for at, side in enumerate("qkv"):
        z = c.composition(side).z  # type: ignore[arg-type]
        np.testing.assert_allclose(arrays["composed"][:, :, at], z, rtol=1e-4, atol=1e-3)
    assert np.nanmax(arrays["composed"]) > 10
