"""Write it, defend it: exercises in code to download, and the final project on a head of one's own.

In: the view, whose head and text the project takes over by a button, here, on Atlas and on
Switchboard; what the learner types. Out: a notebook; the evidence for and against a claim, computed
by `teach.course.defence`, and a page to print. What is typed stays in the session.
"""

import math
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attnviz.app.server import course_lessons
from attnviz.app.session import current, messages, routes, store, widgets
from attnviz.i18n import Language, labelled, text
from attnviz.i18n.numbers import number
from attnviz.metrics.measures import SHARES, Share
from attnviz.pictures.shared.pages import Page
from attnviz.teach.lessons.paper import record
from attnviz.types import HeadId

KEPT = "learn.project"
TEXTS = (
    "Lily gave the red ball to Tom. Tom gave the red",
    "One day a cat saw a dog. The cat",
    "The bird sat on the tree and sang.",
)
CLAIM_CHARS, TEXT_CHARS = 200, 2000
ROOM: Page = "overview"
OPENED = "learn.project.opened"  # True once a head was taken over on another page


@dataclass(frozen=True)
class Project:
    """The fields that a learner has filled in; `is_measured` once the evidence is to be shown."""

    model: str = "stories"
    layer: int = 2
    head: int = 1
    measure: Share = "induction"
    claim: str = ""
    texts: str = "\n".join(TEXTS)
    refuted_by: str = ""
    is_measured: bool = False

    @property
    def name(self) -> HeadId:
        """The head."""
        return HeadId(self.layer, self.head)


def show(lang: Language) -> None:
    """Draw both, in a box that is drawn when it is opened."""
    name = "learn.project"
    key = widgets.showing(name, True) if store.pop(OPENED, None) else widgets.key(name)
    box = st.expander(text(lang, "project.title"), key=key, on_change="rerun")
    if not box.open:
        return
    with box:
        st.markdown(text(lang, "project.code"))
        st.download_button(
            text(lang, "project.notebook"),
            data=_notebook,
            file_name="write-it.ipynb",
            mime="application/x-ipynb+json",
            on_click="ignore",
            key=widgets.key("project.notebook"),
        )
        st.markdown(text(lang, "project.body"))
        with messages.guard(lang):
            _form(lang, store.get(KEPT) or Project())


def _notebook() -> bytes:
    from attnviz.teach.course import exercises

    return exercises.NOTEBOOK.read_bytes()


def _form(lang: Language, project: Project) -> None:
    """The head, by a button from the app; the claim, the texts; then the evidence."""
    with st.container(horizontal=True, vertical_alignment="center"):
        head = text(lang, "project.head", head=str(project.name), model=project.model)
        st.markdown(f"**{head}**", width="content")
        place = current.view().place
        if place.layer is not None and place.head is not None:
            st.button(
                text(lang, "project.take"), key=widgets.key("project.take"), on_click=_take_head
            )
        st.page_link(routes.file(ROOM), label=text(lang, "project.find"))
    _field(lang, project, "claim", CLAIM_CHARS)
    st.selectbox(
        text(lang, "project.measure"),
        SHARES,
        key=widgets.showing("project.measure", project.measure),
        format_func=lambda name: text(lang, f"measure.{name}"),
        on_change=_take,
        args=("measure",),
    )
    st.text_area(
        text(lang, "project.texts"),
        key=widgets.showing("project.texts", project.texts),
        max_chars=TEXT_CHARS,
        on_change=_take,
        args=("texts",),
    )
    st.button(
        text(lang, "project.test"),
        key=widgets.key("project.test"),
        type="primary",
        on_click=_measure,
    )
    if project.is_measured:
        _evidence(lang, project)


def _field(lang: Language, project: Project, name: str, most: int) -> None:
    st.text_input(
        text(lang, f"project.{name}"),
        key=widgets.showing(f"project.{name}", getattr(project, name)),
        max_chars=most,
        placeholder=text(lang, f"project.{name}_example"),
        on_change=_take,
        args=(name,),
    )


def _take(name: str) -> None:
    """Keep what was typed; what depends on it is measured again when that is asked for."""
    value = widgets.value(f"project.{name}")
    if isinstance(value, str):
        kept: Project = store.get(KEPT) or Project()
        measured = kept.is_measured and name in ("claim", "refuted_by")
        changed = {name: value, "is_measured": measured}
        store.put(KEPT, replace(kept, **changed))  # type: ignore[arg-type]


def offer(lang: Language, head: HeadId, measure: Share | None = None) -> None:
    """A button on another page that takes its head into the project, with its text and measure."""
    kept: Project = store.get(KEPT) or Project()
    is_there = (kept.model, kept.name, kept.measure) == (
        current.view().model,
        head,
        measure or kept.measure,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text(lang, "project.defend", head=str(head)),
            key=widgets.key("project.defend"),
            on_click=_take_head,
            args=(head, measure),
        )
        if is_there and store.get(OPENED):
            st.page_link(routes.file("learn"), label=text(lang, "project.to_project"))


def _take_head(named: HeadId | None = None, measure: Share | None = None) -> None:
    """Take over the model, its text, and a head: the one that this visitor looked at last."""
    view, kept = current.view(), store.get(KEPT) or Project()
    layer, head = view.place.layer_and_head if named is None else (named.layer, named.head)
    lines = [view.input.text, *kept.texts.splitlines()] if view.input.text else [kept.texts]
    texts = "\n".join(dict.fromkeys(" ".join(line.split()) for line in lines))
    changed = {"model": view.model, "layer": layer, "head": head, "texts": texts}
    measure = measure or kept.measure
    store.put(KEPT, replace(kept, **changed, measure=measure, is_measured=False))
    store.put(OPENED, named is not None)


def _measure() -> None:
    store.put(KEPT, replace(store.get(KEPT) or Project(), is_measured=True))


def _evidence(lang: Language, project: Project) -> None:
    """The table of all texts, the one that speaks against the claim, and the page to print."""
    from attnviz.teach.course.defence import defend

    lines = project.texts.splitlines()
    with st.spinner(text(lang, "project.measuring")):
        found = defend(course_lessons.capture, project.model, project.name, project.measure, lines)
    names = ("text", "share", "chance", "others", "moved", "moved_others")
    head = [text(lang, f"project.column_{name}") for name in names]
    rows = [
        (
            each.text,
            *(_number(lang, value) for value in (each.share, each.chance, each.others)),
            *(_number(lang, value) for value in (each.moved, each.moved_others)),
        )
        for each in found.evidence
    ]
    st.table([dict(zip(head, row, strict=True)) for row in rows], hide_index=True)
    counts = text(lang, "project.above", above=found.n_above, texts=len(found.evidence))
    st.markdown(counts)
    against = "" if found.against is None else found.against.text
    if against:
        said = messages.quoted(lang, project.model, against)
        st.markdown(labelled(text(lang, "project.against"), said))
    _field(lang, project, "refuted_by", CLAIM_CHARS)
    parts = [
        (text(lang, "project.claim"), project.claim),
        (text(lang, "project.measure"), text(lang, f"measure.{project.measure}")),
        (text(lang, "project.result"), counts),
        (text(lang, "project.against"), against),
        (text(lang, "project.refuted_by"), project.refuted_by),
    ]
    title = text(lang, "project.head", head=str(project.name), model=project.model)
    st.download_button(
        text(lang, "project.print"),
        data=partial(record.defence_html, lang, title, parts, head, rows),
        file_name=f"attnviz-defence-{project.name}-{lang}.html",
        mime="text/html",
        on_click="ignore",
        key=widgets.key("project.print"),
    )


def _number(lang: Language, value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else number(lang, value, ".2f")
