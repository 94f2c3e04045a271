"""The word alignment of an encoder-decoder: each target word with the source words it attends to.

In: a capture with a decoder's cross-attention. Out: the alignment component, and sentences on which
row belongs to which word. It opens with the head that the model's card names, else with the mean of
all heads.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app.frame.choices import renew_links
from attnviz.app.host.draw import draw
from attnviz.app.session import current, messages
from attnviz.app.session.fragment import fragment
from attnviz.i18n import text
from attnviz.pictures import alignment as component
from attnviz.pictures.alignment import AlignmentView, ShownWord, stated
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import chosen
from attnviz.pictures.shared.selection import Extent, parse_open
from attnviz.types import Kind, Stack

STACK: Stack
KIND: Kind
STACK, KIND = "decoder", "cross"


def fits(captured: AppCapture) -> bool:
    """True if a target attends to a source."""
    loaded = captured.loaded
    if loaded is not None and loaded.kind != "encoder-decoder":
        return False
    return any((group.stack, group.kind) == (STACK, KIND) for group in captured.groups)


@fragment()
def show(shown: PageContext) -> None:
    """The alignment, with the meaning of its numbers."""
    lang = shown.lang
    with messages.guard(lang):
        cross = shown.of_group(chosen(shown.captured.groups, STACK, KIND))
        extent = cross.size.extent
        target = current.view().input.target if cross.captured.loaded is not None else ""
        draw(
            component.CANVAS,
            lambda: _view(cross, target),
            "alignment",
            lang,
            {"selection": _keep_choice(extent), "open": _open_head(extent)},
            kept=cross.captured.key,
        )
        st.subheader(text(lang, "translation.title"))
        st.markdown(text(lang, "translation.rows"))
        st.caption(text(lang, "translation.merged"))


def _view(shown: PageContext, target: str) -> AlignmentView:
    from attnviz.experiment.outputs.alignment import align

    shown.captured.capture.require_all_heads()
    alignment = align(shown.captured.loaded, shown.captured.capture, target or None)
    probabilities = alignment.probabilities
    return AlignmentView(
        source=tuple(ShownWord(word.text, word.start, word.special) for word in alignment.source),
        target=tuple(
            ShownWord(
                word.text,
                word.start,
                word.special,
                None if probabilities is None else float(probabilities[index]),
            )
            for index, word in enumerate(alignment.target)
        ),
        weights=alignment.weights,
        stated=stated(shown.captured.name, shown.group),
        probability=alignment.probability,
    )


def _keep_choice(extent: Extent) -> Callable[[object], None]:
    """A callback that stores the chosen head or mean, and renews the links."""

    def commit(sent: object) -> None:
        choice = component.parse_choice(sent, extent)
        if choice is None:
            return
        selection, mean = choice
        current.take_selection(selection)
        current.take({"stack": STACK, "kind": KIND, "mean": mean})
        renew_links()

    return commit


def _open_head(extent: Extent) -> Callable[[object], None]:
    """A callback that opens the chosen head as a heatmap."""

    def open_page(sent: object) -> None:
        request = parse_open(sent, extent)
        if request is not None:
            current.take_opened(request)
            current.open_attention(STACK, KIND)
            current.go(request.page)

    return open_page
