"""What a model that writes expects next, and its text as it grows: the page Output for decoders.

In: a `Captured` with the model's own scores for each token. Out: the writing component, and where
nothing was written a button that lets the model write. Probabilities come from
`attnviz.outputs.next_token`; nothing is computed here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.components import writing
from attnviz.i18n import Language, text
from attnviz.ui.host.components import show_writing
from attnviz.ui.page import fragments
from attnviz.ui.server import cache
from attnviz.ui.server.request import GREEDY, Sampling, generates
from attnviz.ui.session import messages, state, view_request
from attnviz.views import heads
from attnviz.views.captured import Captured, Shown
from attnviz.views.groups import READING, Group, chosen
from attnviz.views.texts import strings

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

SHOWN = 12  # tokens in a distribution; the rest is one bar
MOST_POSITIONS = 200
WRITTEN_AT_ONCE = 20


def fits(captured: Captured) -> bool:
    """Whether this model writes, or has written, and gave its scores for each token."""
    logits, kind = captured.capture.logits, captured.model.kind
    if logits is None or logits.dim() != 3:
        return False
    if kind == "encoder-decoder":
        return captured.asked > 0
    return generates(captured.model.card) or captured.model.card.transcribes


def show(lang: Language, captured: Captured) -> None:
    """Draw it."""
    if captured.asked == 0 and not captured.model.card.transcribes:  # which writes unasked
        _write_button(lang, captured)
    _writing(Shown(lang, captured, _group(captured)))


def _group(captured: Captured) -> Group:
    """An attention of the stack that writes: the chosen one; at first where it reads a source."""
    view = state.current()
    among = [group for group in captured.groups if group.stack not in READING]
    return chosen(among, view.stack, view.kind or ("cross" if len(among) > 1 else None))


def _write_button(lang: Language, captured: Captured) -> None:
    """Let the model write, as far as it has positions left."""
    room = captured.model.max_tokens - len(_group(captured).queries())
    count = min(WRITTEN_AT_ONCE, room)
    if count > 0:
        st.button(
            text(lang, "action.write", count=count),
            key=state.widget_key("write"),
            type="primary",
            on_click=state.update,
            kwargs={"generate": count, "query": None, "key": None},
        )


@st.fragment
def _writing(shown: Shown) -> None:
    with messages.guard(shown.lang):
        hears = shown.captured.model.card.transcribes  # it writes greedily, whatever is asked for
        how = GREEDY if hears else view_request.sampling()
        data = cache.buffer(
            f"{shown.captured.key} {shown.group.name} writing {shown.lang} {how}",
            lambda: writing.pack_writing(
                heads.all_heads(shown, cache.measured(shown)),
                _draws(shown.lang, shown.captured, how),
                strings(shown.lang, writing.STRING_KEYS),
            ),
        )
        extent, key = shown.group.extent, state.component_key("writing")
        show_writing(
            data,
            extent,
            key,
            _of(shown.group, fragments.note(key, extent)),
            _of(shown.group, fragments.opener(key, extent)),
        )


def _of(group: Group, then: Callable[[], None]) -> Callable[[], None]:
    """A callback for which the attention that is shown here is the chosen one."""

    def noted() -> None:
        if group.stack is not None:
            state.update(stack=group.stack, kind=group.kind)
        then()

    return noted


def _draws(lang: Language, captured: Captured, how: Sampling) -> writing.Draws:
    from attnviz.outputs.next_token import ranked

    found = ranked(
        captured.capture, SHOWN, how.temperature, how.top_k, how.top_p, most=MOST_POSITIONS
    )
    return writing.Draws(
        first=found.first,
        n_vocabulary=found.n_vocabulary,
        labels=tuple(_labels(captured.model, row.tolist()) for row in found.ids),
        before=found.before,
        after=found.after,
        cut=found.cut,
        drawn=found.drawn,
        rank=found.rank,
        others=np.stack([found.others_before, found.others_after], axis=-1),
        n_left=found.n_left,
        sampled=how.temperature > 0,
        sampling=text(lang, "sampling.typed") if _typed(captured) else how.sentence(lang),
    )


def _typed(captured: Captured) -> bool:
    """Whether what a listening model reads as its own was typed."""
    return captured.model.card.transcribes and bool(state.current().target.strip())


def _labels(model: "LoadedModel", ids: list[int]) -> tuple[str, ...]:
    """The labels of the tokens in some slots, "" in an empty one."""
    full = [token for token in ids if token >= 0]
    label = dict(zip(full, model.labels_of(full), strict=True))
    return tuple(label.get(token, "") for token in ids)
