"""Masks: one or two sentences in a batch, which cells a mask blocks, and what another would do.

Reads the view, runs the model through the cache, derives the chosen head under each mask, gives the
mask as code, says what was checked.
"""

from attnviz.ui.page import fragments, frame, mask_code
from attnviz.ui.sidebar import sidebar
from attnviz.views.captured import Shown


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("masks")
    sidebar.second_text(lang)
    captured = frame.captured(lang, with_second=True)
    if captured is not None:
        group = sidebar.attention(lang, captured)
        fragments.masks(Shown(lang, captured, group))
        mask_code.show(Shown(lang, captured, group))
        frame.verification(lang, captured)


main()
