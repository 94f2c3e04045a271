"""Steps: how one head gets from its input to its output, every matrix with its numbers.

Reads the view, runs the model through the cache, derives the steps of the chosen head, and says
what was verified.
"""

from attnviz.app.frame import attention_choice, capture_of_view, fragments, frame, frame_line, take
from attnviz.app.page_parts import atlas, edited_answer, inside
from attnviz.app.session import current, embedding, openings


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        shown = attention_choice.choice(shown)
        openings.open_a_new_text(shown)
        fragments.player(shown)
        if not embedding.is_embedded():
            edited_answer.show(shown, "steps")
        fragments.steps(shown)
        if frame_line.ends(shown):
            return
        atlas.place_of_text(shown)
        inside.show(shown)
        frame.verification(shown)
        take.offer(shown, "steps", "steps")


main()
