"""Overview: all heads of the model on one text, each a small heatmap; a click on one grows it.

Reads the view, runs the model through the cache, shows the grid and the head that grew out of it,
and says what was verified. The heads of a long text open on a page of their own.
"""

import streamlit as st

from attnviz.app.frame import attention_choice, capture_of_view, fragments, frame, frame_line, take
from attnviz.app.page_parts import atlas, effects, head_search, inside
from attnviz.app.session import current, openings


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        shown = attention_choice.choice(shown)
        openings.open_a_new_text(shown)
        fragments.player(shown)
        grows = fragments.grows(shown)
        (fragments.look if grows else fragments.grid)(shown)
        beside = st.container()
        with beside:
            fragments.rest(shown, weights=True)
        if frame_line.ends(shown):
            return
        head_search.ask(shown, grows)
        head_search.draw_pattern(shown, grows)
        atlas.place_of_text(shown)
        inside.show(shown)
        frame.verification(shown)
        take.offer(shown, "overview", "heads", "head", "lines")
        with beside:
            effects.of_heads(shown)


main()
