"""The training of lesson "A circuit is born", live: start it, watch it, scrub through it.

In: a seed. Out: a curve that grows while the training runs, what two heads attend to at any of its
steps, a time-lapse of both heads on the visitor's letters, and the scores with each head ablated.
Everything is computed by `teach.course.toy_model`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import pointer
from attnviz.app.server import trainings
from attnviz.app.server.shared import shared
from attnviz.app.server.trainings import Training
from attnviz.app.session import messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import BadInput
from attnviz.figures import charts
from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.pictures import board as boards
from attnviz.pictures import motion as motions
from attnviz.pictures.board import Board, BoardView, Panel
from attnviz.pictures.motion import Motion, MotionView
from attnviz.teach.lessons.cards.card import TrainingView

if TYPE_CHECKING:
    from jaxtyping import Int64
    from torch import Tensor

    from attnviz.teach.course.toy_model import AblationScores, TrainingSnapshot
    from attnviz.types import HeadId

POLL_S = 0.5
MAX_ABLATIONS = 6
CHART_PX = 760
MAX_TYPED = 24
RACE = ("induction", "previous")
CURVES = (*RACE, "accuracy", "control")


def show(lang: Language, seed: int, shown: TrainingView = "moments") -> None:
    """The training of a seed so far; a follower of a class sees the presenter's."""
    name = pointer.training_name(seed)
    if not store.get(name):
        if pointer.is_led():
            st.info(text(lang, "birth.led"))
            return
        st.button(
            text(lang, "birth.start"),
            key=widgets.key(name),
            type="primary",
            on_click=store.put,
            args=(name, 1),
        )
        return
    training = trainings.training(seed, store.visitor())
    if training.job.over:
        _over(lang, training, name, shown)
    else:
        _running(lang, training)


@fragment(run_every=POLL_S)
def _running(lang: Language, training: Training) -> None:
    """The curve so far, and a button to stop; the page runs again when the job is over."""
    job = training.job
    if job.over:
        st.rerun()
    key = "birth.waiting" if job.state == "waiting" else "birth.running"
    step = round(job.fraction * training.n_steps)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = text(lang, key, step=step, steps=training.n_steps)
        st.progress(job.fraction, text=label, width="stretch")
        if not pointer.is_led() and training.owner in ("", store.visitor()):
            st.button(
                text(lang, "birth.stop"),
                key=widgets.key("birth.stop"),
                on_click=job.stop,
            )
    if training.snapshots:
        _curve(lang, training.snapshots, None)


def _over(lang: Language, training: Training, name: str, shown: TrainingView) -> None:
    training.job.raise_error()
    if training.job.state == "stopped":
        st.info(text(lang, "birth.stopped"))
        if not pointer.is_led():
            st.button(
                text(lang, "birth.again"),
                key=widgets.key(f"{name}.again"),
                on_click=_train_again,
                args=(training.seed,),
            )
        return
    if shown == "moments":
        _timeline(lang, training)
    elif shown == "control":
        _curve(lang, training.snapshots, None, CURVES)
    else:
        _ablation(lang, training)


def _train_again(seed: int) -> None:
    name = pointer.training_name(seed)
    store.put(name, int(store.get(name) or 0) + 1)
    trainings.forget(seed)


@fragment()
def _timeline(lang: Language, training: Training) -> None:
    """The curve with one step marked, and what two heads attend to at that step."""
    by_step = {snapshot.step: snapshot for snapshot in training.snapshots}
    step = st.select_slider(
        text(lang, "birth.moment"),
        list(by_step),
        value=max(by_step),
        key=widgets.key(f"birth.{training.seed}.moment"),
    )
    _curve(lang, training.snapshots, float(step))
    from attnviz.teach.course import toy_model

    typed = st.text_input(
        text(lang, "birth.letters"),
        toy_model.example(),
        key=widgets.key("birth.letters"),
        max_chars=MAX_TYPED,
        help=text(lang, "birth.letters_help"),
    )
    try:
        tokens = toy_model.encode(typed)
    except BadInput as error:
        messages.show(lang, error)
        return
    last = training.snapshots[-1].repeated
    weights = toy_model.attention(toy_model.restore(by_step[step]), tokens)
    show_time_lapse(lang, training, tokens)
    _heads(lang, weights, toy_model.labels(tokens), (last.previous_head, last.induction_head))


def _heads(
    lang: Language, weights: np.ndarray, letters: tuple[str, ...], heads: "Sequence[HeadId]"
) -> None:
    panels = tuple(
        Panel(
            name,
            weights[head.layer, head.head].astype(np.float64),
            rows=letters,
            columns=letters,
            signed=False,
        )
        for name, head in zip(("previous", "induction"), heads, strict=True)
    )
    captions = {
        panel.name: text(lang, f"birth.{panel.name}_head", head=str(head))
        for panel, head in zip(panels, heads, strict=True)
    }
    view = BoardView(Board(panels), captions, narrow=True)
    draw(boards.CANVAS, view, "birth.heads", lang)


def _curve(
    lang: Language,
    snapshots: "Sequence[TrainingSnapshot]",
    step: float | None,
    names: Sequence[str] = RACE,
) -> None:
    """Scores against steps: both kinds of heads; with all names the control, and the accuracy."""
    steps = np.array([snapshot.step for snapshot in snapshots], dtype=np.float64)
    values = {
        "induction": [snapshot.repeated.best_induction for snapshot in snapshots],
        "previous": [snapshot.repeated.best_previous for snapshot in snapshots],
        "accuracy": [snapshot.repeated.accuracy for snapshot in snapshots],
        "control": [snapshot.fresh.best_induction for snapshot in snapshots],
    }
    lines = [
        charts.Line(text(lang, f"birth.{name}"), steps, np.array(scores, dtype=np.float64))
        for name, scores in values.items()
        if name in names
    ]
    x, y = text(lang, "birth.step"), text(lang, "birth.score")
    figure = charts.chart(lines, x, y, marked_x=step)
    st.plotly_chart(
        figure,
        key=widgets.key("birth.curve"),
        config={"displayModeBar": False, "scrollZoom": False},
        width=CHART_PX,
        alt=text(
            lang, "learn.chart", x=x, y=y, series=joined(lang, (line.label for line in lines))
        ),
    )


@shared(most=MAX_ABLATIONS)
def ablations(training: Training) -> "AblationScores":
    """The scores of a finished training, and with each head of its first layer ablated."""
    from attnviz.teach.course import toy_model

    return toy_model.effects(toy_model.restore(training.snapshots[-1]))


def _ablation(lang: Language, training: Training) -> None:
    """The scores of the whole model, and with each head of the first layer ablated."""
    effects = ablations(training)
    st.markdown(text(lang, "birth.ablation"))
    columns = [text(lang, f"birth.{name}") for name in ("without", "induction", "accuracy")]
    rows = [(text(lang, "birth.nothing"), effects.before)]
    previous = training.snapshots[-1].repeated.previous_head
    for effect in effects.without:
        name = text(lang, f"birth.{effect.ablation}", head=str(effect.head))
        mark = " ←" if effect.head == previous else ""
        rows.append((f"{name}{mark}", effect.after))
    shown = [
        (name, *(number(lang, score, ".2f") for score in (scores.best_induction, scores.accuracy)))
        for name, scores in rows
    ]
    st.table([dict(zip(columns, row, strict=True)) for row in shown], hide_index=True)
    st.caption(text(lang, "birth.mark", head=str(previous)))


def show_time_lapse(lang: Language, training: Training, tokens: "Int64[Tensor, 'token']") -> None:
    """The film of a training on these letters."""
    draw(
        motions.CANVAS,
        lambda: _film_view(lang, training, tokens),
        "birth.time_lapse",
        lang,
        kept=f"time-lapse {training.seed} {len(training.snapshots)} {tokens.tolist()}",
    )


def _film_view(lang: Language, training: Training, tokens: "Int64[Tensor, 'token']") -> MotionView:
    from attnviz.teach.course import toy_model

    last = training.snapshots[-1].repeated
    heads = (last.previous_head, last.induction_head)
    labels = {
        "letters": toy_model.labels(tokens),
        "heads": tuple(map(str, heads)),
        "curves": tuple(text(lang, f"birth.{name}") for name in RACE),
        "step": (text(lang, "birth.step"),),
    }
    captions = {"training": text(lang, "birth.time_lapse")}
    handles = {"moment": text(lang, "birth.step")}
    return MotionView(_film(training, tokens), captions["training"], captions, labels, handles)


def _film(training: Training, tokens: "Int64[Tensor, 'token']") -> Motion:
    """The weights of both heads in each kept model, below each other, and the curves."""
    from attnviz.teach.course import toy_model

    snapshots = training.snapshots
    last = snapshots[-1].repeated
    weights = [toy_model.attention(toy_model.restore(snapshot), tokens) for snapshot in snapshots]
    curves = (
        [snapshot.repeated.best_induction for snapshot in snapshots],
        [snapshot.repeated.best_previous for snapshot in snapshots],
    )
    arrays = {
        name: np.concatenate([of_all[head.layer, head.head] for of_all in weights]).astype(float)
        for name, head in (("previous", last.previous_head), ("induction", last.induction_head))
    }
    arrays |= {
        "curves": np.array(curves, dtype=np.float64),
        "steps": np.array([[snapshot.step for snapshot in snapshots]], dtype=np.float64),
    }
    return Motion("training", arrays)
