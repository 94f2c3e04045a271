"""Look: all heads of the model on one text, each a small heatmap; a click on one grows it in place.

Reads the view, runs the model through the cache, shows the grid and the head that grew out of it,
and says what was verified. Of a long text the page shows either all heads, from afar, or the one
that is open, a very long one by tiles. With a second sentence the squares show B − A, and below
them stands which head carries the difference to the answer.
"""

import streamlit as st

from attnviz.app.frame import attention_choice, capture_of_view, fragments, frame, take
from attnviz.app.page_parts import (
    atlas,
    compare,
    head_search,
    inside,
    long_head,
    look_effects,
    patching,
)
from attnviz.app.session import current, openings


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None and current.view().drawing.second:
        both = compare.show(shown)
        if both is not None:
            patching.show(*both)
            compare.verification(both)
    elif shown is not None:
        shown = attention_choice.choice(shown)
        openings.open_a_new_text(shown)
        fragments.player(shown)
        grows, is_open = fragments.grows(shown), current.view().drawing.open
        if grows:
            fragments.look(shown)
        elif is_open:
            long_head.alone(shown)
        else:
            fragments.grid(shown)
        beside = st.container()
        with beside:
            fragments.rest(shown, weights=grows or not is_open)
        if frame.ends(shown):
            return
        head_search.ask(shown, grows)
        head_search.draw_pattern(shown, grows)
        atlas.place_of_text(shown)
        inside.show(shown)
        frame.verification(shown)
        take.offer(shown, "overview", "heads", "head", "lines")
        with beside:
            look_effects.of_heads(shown)


main()
