"""Head: one head in full, as a heatmap and as lines; all heads are at hand without waiting.

Reads the view, runs the model through the cache, shows the head, says what was checked. Of a text
too long for that it shows one head at a time, by tiles.
"""

from attnviz.ui import controls, frame, tiled, views


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("head")
    captured = frame.captured(lang)
    if captured is not None:
        group = controls.attention(lang, captured)
        views.written(lang, captured, group)
        show = views.head if group.all_at_once else tiled.head
        show(lang, captured, group)
        frame.verification(lang, captured)


main()
