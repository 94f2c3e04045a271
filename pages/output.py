"""Output: the model's output for its input, beside its attention.

Reads the view, runs the model through the cache, shows the views that fit the model's output, and
says what wrote the answer and what was verified.
"""

from attnviz.app import outputs
from attnviz.app.effects import answer_parts, answer_tokens, lens
from attnviz.app.frame import capture_of_view, frame, frame_line, take
from attnviz.app.many import atlas
from attnviz.app.outputs import model_card
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        outputs.fitting(shown)
        if frame_line.ends(shown):
            return
        answer_tokens.show(shown)
        lens.show(shown)
        answer_parts.show(shown)
        atlas.place_of_text(shown)
        model_card.show(shown.lang, shown.captured.name)
        frame.verification(shown)
        take.offer(shown, "output", *outputs.figures(shown))


main()
