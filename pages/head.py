"""Head: one head as a heatmap and as lines; the browser switches to any other at once.

Reads the view, runs the model through the cache, shows the head, and says what was verified. A text
too long for all heads is shown one head at a time, by tiles.
"""

import streamlit as st

from attnviz.app.frame import attention_choice, capture_of_view, fragments, frame, frame_line, take
from attnviz.app.page_parts import atlas, effects, head_search, inside, long_head
from attnviz.app.session import current, openings


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        shown = attention_choice.choice(shown)
        openings.open_a_new_text(shown)
        fragments.player(shown)
        show = fragments.head if shown.size.all_at_once else long_head.head
        show(shown)
        beside = st.container()
        with beside:
            fragments.rest(shown, weights=False)
        if frame_line.ends(shown):
            return
        head_search.ask(shown, grows=False)
        atlas.place_of_text(shown)
        inside.show(shown)
        frame.verification(shown)
        take.offer(shown, "head", "head", "lines")
        with beside:
            effects.of_heads(shown)


main()
