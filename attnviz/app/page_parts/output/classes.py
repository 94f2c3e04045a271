"""The output of a classifier, as bars: the likeliest classes, and the words of their names.

In: a capture of a model with named classes. Out: bars with numbers. Where the picture is one that
the app generated, its true class is known, and its bars are marked.
"""

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.session import model_images, uploads
from attnviz.app.session.messages import quoted
from attnviz.experiment.outputs import classes as outputs
from attnviz.i18n import Language, text
from attnviz.pictures import bars
from attnviz.pictures.group import answers
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.shared.bars import Bar

MAX_BARS = 10
WIDTH_PX = 450


def fits(captured: AppCapture) -> bool:
    """True if the model names classes."""
    return outputs.has_classes(captured.model, captured.capture)


def show(shown: PageContext) -> None:
    """The likeliest classes, and beside them the sums over either word of their names."""
    lang, captured = shown.lang, shown.captured
    predicted = outputs.classes(captured.model, captured.capture)
    largest = float(predicted.probabilities.max())
    percent = answers.share(lang, largest)
    truth = (
        model_images.truth(uploads.picture_name()) if model_images.is_sampled(captured.name) else ""
    )
    note = text(
        lang,
        "classes.softmax" if predicted.exclusive else "classes.sigmoid",
        count=len(predicted.names),
    )
    if truth:
        note = f"{note} {text(lang, 'classes.marked')}"
    factors = zip(_factor_titles(shown), outputs.factors(predicted), strict=False)
    with st.container(horizontal=True, gap="large"):
        with st.container(width=WIDTH_PX):
            _bars(lang, "all", _view(lang, predicted, text(lang, "classes.title"), truth, note))
        with st.container(width=WIDTH_PX):
            for number, (title, factor) in enumerate(factors):
                _bars(lang, f"factor{number}", _view(lang, factor, title, truth))
    best = quoted(lang, captured.name, predicted.best)
    st.markdown(text(lang, "classes.says", name=best, percent=percent))


def _bars(lang: Language, name: str, view: bars.BarsView) -> None:
    draw(bars.CANVAS, view, f"classes.{name}", lang)


def _factor_titles(shown: PageContext) -> tuple[str, str]:
    lang = shown.lang
    if model_images.is_sampled(shown.captured.name):
        return text(lang, "classes.colour"), text(lang, "classes.form")
    return text(lang, "classes.first_word"), text(lang, "classes.second_word")


def _view(
    lang: Language, classes: outputs.Classes, title: str, truth: str, note: str = ""
) -> bars.BarsView:
    """The first classes as bars; those named `truth`, or one of its words, are marked as right."""
    right = {truth, *truth.split(" ")} if truth else set()
    first, others = classes.order[:MAX_BARS], classes.order[MAX_BARS:]
    rows = tuple(
        Bar(
            classes.names[index],
            float(classes.probabilities[index]),
            mark=text(lang, "classes.drawn") if classes.names[index] in right else "",
        )
        for index in first
    )
    rest = None
    if others and classes.exclusive:
        rest = bars.Rest(len(others), float(classes.probabilities[list(others)].sum()))
    return bars.BarsView(title, rows, rest, note)
