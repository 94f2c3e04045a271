"""From the weights: what the weights of a model say about a head before any text is read.

Reads the view, reads the circuits of all heads off the weights, shows one head with its controls.
"""

from attnviz.app.frame import attention_choice, capture_of_view, frame, take
from attnviz.app.page_parts import weights
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        shown = attention_choice.choice(shown)
        weights.show(shown)
        if not frame.ends(shown):
            take.offer(shown, "weights")


main()
