"""The output of a decoder: the next token's distribution, and the text as it grows.

In: a capture with the model's own scores for each token. Out: the writing component, and where
nothing was generated a button that lets the model generate. Probabilities come from
`attnviz.experiment.outputs.next_token`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.app.frame import fragments
from attnviz.app.frame.fragments import keep_selection, open_head
from attnviz.app.host.draw import draw
from attnviz.app.session import current, messages, view_request, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.session.model_cards import generates
from attnviz.capture.generation.settings import Generation
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.pictures import writing
from attnviz.pictures.group import groups, heads
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import Group, chosen

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

N_SHOWN = 12  # tokens in a distribution; the others share one bar
MAX_POSITIONS = 200
N_GENERATED = 20  # tokens, at a click


def fits(captured: AppCapture) -> bool:
    """True if the model generates, or has generated, and gave its scores for each token."""
    logits, kind = captured.capture.logits, captured.model.kind
    if logits is None or logits.dim() != 3:
        return False
    if kind == "encoder-decoder":
        return captured.n_asked > 0
    return generates(captured.model.card) or captured.model.card.transcribes


def show(shown: PageContext) -> None:
    """The component, above a button while nothing was generated.

    It shows the chosen attention of the stack that generates, its cross-attention by default.
    """
    captured, place = shown.captured, current.view().place
    writing = [group for group in captured.groups if group.stack not in groups.READING]
    kind = place.kind or ("cross" if len(writing) > 1 else None)
    shown = shown.of_group(chosen(writing, place.stack, kind))
    _distributions(shown)
    if captured.n_asked == 0 and not captured.model.card.transcribes:  # which needs no asking
        _generate_button(shown)


def _generate_button(shown: PageContext) -> None:
    """A button that lets the model generate, as far as it has positions left."""
    n_free = shown.captured.model.max_tokens - len(groups.queries(shown.group))
    count = min(N_GENERATED, n_free)
    if count > 0:
        asked = st.button(
            text(shown.lang, "action.write", count=count),
            key=widgets.key("write"),
            type="primary",
        )
        if asked:
            current.generate(count)
            st.rerun()  # the whole page: the text becomes longer


@fragment()
def _distributions(shown: PageContext) -> None:
    with messages.guard(shown.lang):
        transcribes = shown.captured.model.card.transcribes  # greedily, whatever the view asks for
        sampling = Generation(1) if transcribes else view_request.generation()
        extent = shown.size.extent
        draw(
            writing.CANVAS,
            lambda: writing.WritingView(
                heads.small_view(shown, fragments.measured(shown)), _draws(shown, sampling)
            ),
            "writing",
            shown.lang,
            {
                "selection": _choosing(shown.group, keep_selection(extent)),
                "open": _choosing(shown.group, open_head(extent)),
            },
            kept=f"{shown.captured.key} {shown.group.name} {sampling}",
        )


def _choosing(group: Group, then: Callable[[object], None]) -> Callable[[object], None]:
    """A callback that also makes this group the chosen one; it keeps no capture."""
    stack, kind = group.stack, group.kind

    def choose(sent: object) -> None:
        if stack is not None:
            current.open_attention(stack, kind)
        then(sent)

    return choose


def _draws(shown: PageContext, sampling: Generation) -> writing.Draws:
    from attnviz.experiment.outputs.next_token import ranked

    captured = shown.captured
    ranks = ranked(
        captured.capture,
        N_SHOWN,
        sampling.temperature or 0.0,
        sampling.top_k,
        sampling.top_p,
        most=MAX_POSITIONS,
    )
    return writing.Draws(
        first=ranks.first,
        n_vocabulary=ranks.n_vocabulary,
        labels=tuple(_labels(captured.model, row.tolist()) for row in ranks.ids),
        before=ranks.before,
        after=ranks.after,
        cut=ranks.cut,
        drawn=ranks.drawn,
        rank=ranks.rank,
        others=np.stack([ranks.others_before, ranks.others_after], axis=-1),
        n_left=ranks.n_left,
        sampled=not sampling.is_plain,
        sampling=_sampling_sentence(shown.lang, captured, sampling),
    )


def _sampling_sentence(lang: Language, captured: AppCapture, sampling: Generation) -> str:
    """A sentence on how the tokens were chosen; a transcript may have been typed."""
    typed = captured.model.card.transcribes and current.view().input.target.strip()
    if typed:
        return text(lang, "sampling.typed")
    if sampling.temperature is None:
        return text(lang, "sampling.greedy")
    off = text(lang, "sampling.off")
    return text(
        lang,
        "sampling.sampled",
        temperature=number(lang, sampling.temperature, "g"),
        top_k=sampling.top_k or off,
        top_p=off if sampling.top_p == 1 else number(lang, sampling.top_p, "g"),
        seed=str(sampling.seed),
    )


def _labels(model: "LoadedModel", ids: list[int]) -> tuple[str, ...]:
    """The labels of token ids, "" for an empty slot (−1)."""
    tokens = [token for token in ids if token >= 0]
    label = dict(zip(tokens, model.labels_of(tokens), strict=True))
    return tuple(label.get(token, "") for token in ids)
