"""Overview: all heads of the model on one text, each a small heatmap; a click opens one.

Reads the view, runs the model through the cache, shows the grid, and says what was verified.
"""

import streamlit as st

from attnviz.app.frame import attention_choice, capture_of_view, fragments, frame, frame_line, take
from attnviz.app.page_parts import atlas, effects, head_search
from attnviz.app.session import current, openings


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        shown = attention_choice.choice(shown)
        openings.open_a_new_text(shown)
        fragments.player(shown)
        fragments.grid(shown)
        beside = st.container()
        with beside:
            fragments.rest(shown, weights=True)
        if frame_line.ends(shown):
            return
        head_search.ask(shown)
        atlas.place_of_text(shown)
        head_search.draw_pattern(shown)
        frame.verification(shown)
        take.offer(shown, "overview", "heads")
        with beside:
            effects.of_heads(shown)


main()
