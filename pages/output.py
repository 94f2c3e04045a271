"""Output: the model's output for its input, beside its attention.

Reads the view, runs the model through the cache, shows the views that fit the model's output, and
says what wrote the answer and what was verified.
"""

from attnviz.app.frame import capture_of_view, frame, frame_line, take
from attnviz.app.page_parts import atlas, output
from attnviz.app.page_parts.output import answer, model_card
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        output.fitting(shown)
        if frame_line.ends(shown):
            return
        answer.show_tokens(shown)
        answer.show_lens(shown)
        answer.show_parts(shown)
        atlas.place_of_text(shown)
        model_card.show(shown.lang, shown.captured.name)
        frame.verification(shown)
        take.offer(shown, "output", *output.figures(shown))


main()
