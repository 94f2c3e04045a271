"""Masks: one or two sentences in a batch, which cells a mask blocks, and what another would do.

Reads the view, runs the model through the cache, derives the chosen head under each mask, shows the
mask as code, and says what was verified.
"""

from attnviz.app.frame import (
    attention_choice,
    capture_of_view,
    fragments,
    frame,
    frame_line,
    mask_code,
    take,
)
from attnviz.app.page_parts import atlas, edited_answer
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang, with_second=True)
    if shown is not None:
        shown = attention_choice.choice(shown)
        fragments.masks(shown)
        if frame_line.ends(shown):
            return
        edited_answer.show(shown, "masks")
        atlas.place_of_text(shown)
        mask_code.show(shown)
        frame.verification(shown)
        take.offer(shown, "masks", "head")


main()
