"""Head: one head in full, as a heatmap and as lines; all heads are at hand without waiting.

Reads the view, runs the model through the cache, shows the head, says what was checked. Of a text
too long for that it shows one head at a time, by tiles.
"""

from attnviz.ui.page import attention_choice, capture_of_view, fragments, frame, long_head


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("head")
    captured = capture_of_view.captured(lang)
    if captured is not None:
        shown = attention_choice.choice(lang, captured)
        fragments.written(shown)
        show = fragments.head if shown.group.all_at_once else long_head.head
        show(shown)
        frame.verification(lang, captured)


main()
