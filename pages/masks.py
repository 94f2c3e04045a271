"""Masks: one or two sentences in a batch, which cells a mask blocks, and what another would do.

Reads the view, runs the model through the cache, derives the chosen head under each mask, gives the
mask as code, says what was checked.
"""

from attnviz.ui.page import attention_choice, capture_of_view, fragments, frame, mask_code
from attnviz.ui.sidebar import sidebar


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("masks")
    sidebar.second_text(lang)
    captured = capture_of_view.captured(lang, with_second=True)
    if captured is not None:
        shown = attention_choice.choice(lang, captured)
        fragments.masks(shown)
        mask_code.show(shown)
        frame.verification(lang, captured)


main()
