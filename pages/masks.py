"""Masks: one or two sentences in a batch, which cells a mask blocks, and what another would do.

Reads the view, runs the model through the cache, derives the chosen head under each mask, gives the
mask as code, says what was checked.
"""

from attnviz.ui import controls, forensics, frame, views


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("masks")
    controls.second_text(lang)
    captured = frame.captured(lang, with_second=True)
    if captured is not None:
        group = controls.attention(lang, captured)
        views.masks(lang, captured, group)
        forensics.show(lang, group)
        frame.verification(lang, captured)


main()
