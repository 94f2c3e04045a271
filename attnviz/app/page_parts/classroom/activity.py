"""The whole class does something together: trains seeds, writes short answers, tests a head.

In: the stage. Out: the presenter's buttons; on a follower's page its training, or a box; on the
presenter's page and the wall the curves of all trainings and when each circuit was born, the
answers without names, or what a head gives the nouns of sentences with "it", ranked, beside
chance. A class of thirty is an experiment with thirty seeds, or thirty sentences.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean, median, stdev
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.app.page_parts.classroom import reach, sentences
from attnviz.app.server import course_lessons, trainings
from attnviz.app.server.class_socket import rooms
from attnviz.app.server.trainings import BIRTH_EVERY, BIRTH_STEPS
from attnviz.app.session import current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError
from attnviz.figures import charts
from attnviz.figures.charts import Line
from attnviz.i18n import Language, in_english, text
from attnviz.i18n.numbers import number
from attnviz.teach.classroom.stage import Activity, CardName, Stage

ASKED = "class.activity"  # a card, and what the class does on it
BALLOT, CHOSEN = "class.ballot", "class.chosen"  # the room and the sentence voted for
TRAINED = "class.trained"  # the room and the seed that this session trains
POLL_S = 1.5
HALF = 500  # thousandths
N_POINTS = BIRTH_STEPS // BIRTH_EVERY + 1
TRAINS_IN = "birth"  # the lesson whose circuit is trained
POINTS_IN = ("ask", "real", "claims")  # lessons on what a head gives a word
CHART = {"displayModeBar": False, "scrollZoom": False}
BIN = 4  # steps: circuits are born within a few of these
WALL_PX, WALL_HEIGHT_PX, WALL_LOW_PX = 28, 470, 330

if TYPE_CHECKING:
    from attnviz.teach.course.ask import Pointed

WRITTEN: tuple[Activity, ...] = ("write", "read", "vote", "point")  # activities with sentences

Curves = Mapping[int, tuple[int, ...]]


def asked(card: CardName) -> Activity:
    """The activity of the class on a card."""
    kept: tuple[CardName, Activity] | None = store.get(ASKED)
    return kept[1] if kept is not None and kept[0] == card else ""


def take_back(stage: Stage) -> None:
    """Have the class go on with what it did before this page was loaded again."""
    if stage.activity:
        store.put(ASKED, (stage.name, stage.activity))


def ask(lang: Language, card: CardName) -> None:
    """The presenter's buttons."""
    now = asked(card)
    with st.expander(text(lang, "class.together")):
        if now:
            _button(lang, card, "", "together_end", primary=True)
        if card[0] == TRAINS_IN and now != "train":
            st.markdown(text(lang, "class.train_body"))
            _button(lang, card, "train", "train")
        if card[0] in POINTS_IN and now != "point":
            st.markdown(text(lang, "class.it_body"))
            _button(lang, card, "point", "it")
        if now not in WRITTEN:
            st.markdown(text(lang, "class.write_body"))
            _button(lang, card, "write", "write")
        elif now == "write":
            _button(lang, card, "read", "read")
        if now in ("write", "read"):
            _button(lang, card, "vote", "vote")


def _button(
    lang: Language, card: CardName, activity: Activity, name: str, primary: bool = False
) -> None:
    st.button(
        text(lang, f"class.{name}"),
        key=widgets.key(f"class.{name}"),
        type="primary" if primary else "secondary",
        on_click=_have,
        args=(card, activity),
    )


def _have(card: CardName, activity: Activity) -> None:
    """Have the class do this; sentences are taken while it writes."""
    seat = current.view().classroom
    try:
        if "point" in (activity, asked(card)):  # its sentences are no answers
            rooms().collect(seat.room, seat.host, False)
        rooms().collect(seat.room, seat.host, activity in WRITTEN)
    except AttnVizError as error:
        messages.show(current.language(), error)
        return
    store.put(ASKED, (card, activity))


def take_part(lang: Language, stage: Stage) -> None:
    """A follower's part: its own training, or a box for its sentence while the class collects."""
    if stage.activity == "vote":
        _ballot(lang)
    elif stage.activity == "point":
        sentences.give_with_noun(lang)
    else:
        sentences.give(lang, "short" if stage.activity else "sentence")
    if stage.activity == "train":
        with st.container(border=True, key=widgets.key("class.training")):
            _own_training(lang)


def _ballot(lang: Language) -> None:
    """The sentences of the class, one of which this follower chooses."""
    seat = current.view().classroom
    given: tuple[str, ...] = reach.tried(lambda: rooms().sentences(seat.room), ())
    kept: tuple[str, str] = store.get(CHOSEN, ("", ""))
    own = kept[1] if kept[0] == seat.room and kept[1] in given else None
    st.radio(
        text(lang, "class.ballot"),
        given,
        key=widgets.showing(BALLOT, own),
        format_func=messages.plain,
        on_change=_vote,
    )


def _vote() -> None:
    seat, sentence = current.view().classroom, widgets.value(BALLOT)
    if not isinstance(sentence, str):
        return
    try:
        rooms().vote(seat.room, seat.seat, sentence)
    except AttnVizError as error:
        messages.show(current.language(), error)
        return
    store.put(CHOSEN, (seat.room, sentence))


@fragment(run_every=POLL_S)
def _own_training(lang: Language) -> None:
    seat = current.view().classroom
    kept: tuple[str, int] | None = store.get(TRAINED)
    seed = kept[1] if kept is not None and kept[0] == seat.room else None
    if seed is None:
        st.markdown(text(lang, "class.train_own"))
        st.button(
            text(lang, "class.train_mine"),
            key=widgets.key("class.train_mine"),
            type="primary",
            on_click=_train,
        )
        return
    curves: Curves = reach.tried(lambda: rooms().curves(seat.room), {})
    curve = curves.get(seed, ())
    step = born(curve)
    if step is not None:
        st.markdown(f"**{text(lang, 'class.born', seed=seed, step=round(step))}**")
    else:
        done = len(curve) == N_POINTS
        key = "class.not_born" if done else "class.trains" if curve else "birth.waiting"
        reached = BIRTH_EVERY * max(len(curve) - 1, 0)
        st.markdown(text(lang, key, seed=seed, step=reached, steps=BIRTH_STEPS))
    _curves(lang, {seed: curve}, wall=False, key="class.own_curve")


def _train() -> None:
    """Begin this member's training, whose scores the room hears."""
    seat = current.view().classroom
    try:
        seed = rooms().train(seat.room, seat.seat)
        trainings.start_birth(seed, partial(_tell, seat.room, seat.seat))
    except AttnVizError as error:
        messages.show(current.language(), error)
        return
    store.put(TRAINED, (seat.room, seed))


def _tell(room: str, seat: str, scores: tuple[int, ...]) -> None:
    rooms().note_curve(room, seat, scores)


def born(curve: tuple[int, ...]) -> float | None:
    """The step at which a curve crosses one half, between two measured ones; None if it does not.

    >>> born((50, 100, 900)), born((50, 60))
    (12.0, None)
    """
    for place in range(1, len(curve)):
        before, after = curve[place - 1], curve[place]
        if before <= HALF < after:
            return BIRTH_EVERY * (place - 1 + (HALF - before) / (after - before))
    return None


def show(lang: Language, stage: Stage, *, wall: bool = False) -> None:
    """The results of the class so far, for the presenter or on the wall."""
    if not stage.activity:
        return
    with st.container(border=not wall, key=widgets.key("class.together")):
        _results(lang, stage.activity, wall)


@fragment(run_every=POLL_S)
def _results(lang: Language, activity: Activity, wall: bool) -> None:
    if activity == "train":
        _births(lang, wall)
    elif activity == "point":
        _pointed(lang, wall)
    else:
        _answers(lang, activity, wall)


def _births(lang: Language, wall: bool) -> None:
    """All curves, and how many circuits were born in each part of the training."""
    room = current.view().classroom.room
    curves: Curves = reach.tried(lambda: rooms().curves(room), {})
    steps = [step for curve in curves.values() if (step := born(curve)) is not None]
    st.markdown(f"**{text(lang, 'class.births', count=len(curves), born=len(steps))}**")
    if steps:
        numbers = {"first": min(steps), "median": median(steps), "last": max(steps)}
        whole = {name: round(step) for name, step in numbers.items()}
        st.markdown(text(lang, "class.births_when", **whole))
    left, right = st.columns([3, 2])
    with left:
        _curves(lang, curves, wall=wall, key="class.curves")
    with right:
        _distribution(lang, steps, wall)


def _curves(lang: Language, curves: Curves, *, wall: bool, key: str) -> None:
    lines = [
        Line(
            str(seed),
            np.arange(len(curve), dtype=np.float64) * BIRTH_EVERY,
            np.array(curve, dtype=np.float64) / 1000,
        )
        for seed, curve in curves.items()
        if curve
    ]
    if not lines:
        return
    x, y = text(lang, "birth.step"), text(lang, "birth.score")
    figure = charts.curves(lines, x, y, level=HALF / 1000)
    figure.update_xaxes(range=[0, BIRTH_STEPS])
    if wall:
        charts.enlarge(figure, WALL_PX, WALL_HEIGHT_PX)
    alt = text(lang, "class.curves_alt", count=len(lines))
    st.plotly_chart(figure, key=widgets.key(key), config=CHART, alt=alt)


def _distribution(lang: Language, steps: list[float], wall: bool) -> None:
    """The number of circuits born within the same few steps."""
    if not steps:
        return
    counts = Counter(int(step // BIN) for step in steps)
    bins = range(min(counts) - 1, max(counts) + 2)
    x = np.array([BIN * (one + 0.5) for one in bins])
    y = np.array([counts[one] for one in bins], dtype=np.float64)
    named = text(lang, "class.births_at"), text(lang, "class.births_count")
    figure = charts.chart([Line(named[1], x, y)], *named, bars=True)
    figure.update_layout(bargap=0.05)
    figure.update_xaxes(dtick=BIN, tick0=0)
    if wall:
        charts.enlarge(figure, WALL_PX, WALL_HEIGHT_PX)
        figure.update_xaxes(dtick=2 * BIN)
    figure.update_yaxes(dtick=max(1, int(y.max()) // 4))
    alt = text(lang, "learn.chart", x=named[0], y=named[1], series=named[1])
    st.plotly_chart(figure, key=widgets.key("class.births"), config=CHART, alt=alt)


def _answers(lang: Language, activity: Activity, wall: bool) -> None:
    """The short answers: the presenter reads them first, the wall once they are to be read."""
    room = current.view().classroom.room
    given: tuple[str, ...] = reach.tried(lambda: rooms().sentences(room), ())
    st.markdown(f"**{text(lang, 'class.answers', count=len(given))}**")
    if wall and activity == "write":
        st.markdown(text(lang, "class.answers_wait"))
        return
    votes: Mapping[str, int] = reach.tried(lambda: rooms().votes(room), {})
    ranked = sorted(given, key=lambda sentence: -votes.get(sentence, 0))
    counts = {one: f"**{votes[one]}** · " if one in votes else "" for one in ranked}
    st.markdown("\n".join(f"- {counts[one]}{messages.plain(one)}" for one in ranked))


def _pointed(lang: Language, wall: bool) -> None:
    """The sentences with "it", the noun with the largest weight first, and their mean."""
    room = current.view().classroom.room
    given: tuple[str, ...] = reach.tried(lambda: rooms().sentences(room), ())
    parted = [sentences.parted(said) for said in given]
    measured = [(course_lessons.pointed(*pair), *pair) for pair in parted if pair[1]]
    found = [(one, sentence, noun) for one, sentence, noun in measured if one is not None]
    if not found:
        st.markdown(f"**{text(lang, 'class.it_none')}**")
        return
    found.sort(key=lambda each: -each[0].weight)
    head = str(found[0][0].head)
    st.markdown(f"**{text(lang, 'class.it_title', count=len(found), head=head)}**")
    written = partial(number, lang, form=".2f")
    above = [one.weight - one.chance for one, _, _ in found]
    means = {
        name: written(mean(getattr(one, name) for one, _, _ in found))
        for name in ("weight", "chance", "others")
    }
    said = text(
        lang, "class.it_mean", above=sum(lead > 0 for lead in above), count=len(found), **means
    )
    if len(found) > 1:
        error = written(stdev(above) / len(above) ** 0.5)
        said += f" {text(lang, 'class.it_error', lead=written(mean(above)), error=error)}"
    st.markdown(said)
    _weights_of_nouns(lang, [one for one, _, _ in found], wall)
    told = [found[0], *found[1:][-1:]] if wall else found  # the strongest, and the weakest
    rows = [
        text(
            lang,
            "class.it_row",
            weight=written(one.weight),
            chance=written(one.chance),
            sentence=in_english(lang, messages.plain(sentence)),
            noun=in_english(lang, messages.plain(noun)),
        )
        for one, sentence, noun in told
    ]
    st.markdown("\n".join(f"- {row}" for row in rows))


def _weights_of_nouns(lang: Language, found: Sequence["Pointed"], wall: bool) -> None:
    """The head's weight from “it” to each sentence's noun, beside chance; the strongest first."""
    place = np.arange(1, len(found) + 1, dtype=np.float64)
    bars = [
        Line(str(found[0].head), place, np.array([one.weight for one in found])),
        Line(text(lang, "class.it_chance"), place, np.array([one.chance for one in found])),
    ]
    x, y = text(lang, "class.it_sentences"), text(lang, "class.it_weight")
    figure = charts.chart(bars, x, y, bars=True)
    figure.update_yaxes(range=[0, 1], dtick=0.5)
    figure.update_xaxes(dtick=max(1, len(found) // 6))
    if wall:
        charts.enlarge(figure, WALL_PX, WALL_LOW_PX)
    alt = text(lang, "learn.chart", x=x, y=y, series=", ".join(line.label for line in bars))
    st.plotly_chart(figure, key=widgets.key("class.nouns"), config=CHART, alt=alt)
