"""Change: every head as a switch beside the model's answer; paths over them, the answer below.

Reads the view, runs the model through the cache, shows the switches with what is seen over and
below them, and says what was verified.
"""

from functools import partial

from attnviz.app.frame import capture_of_view, frame, take
from attnviz.app.page_parts import change
from attnviz.app.page_parts.learn import project
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        change.show(shown, project.offer)
        if not frame.ends(shown):
            change.show_more(shown)
            frame.verification(shown, all_on=False)
            changes = partial(change.changes, shown)
            take.offer(shown, "switches", *change.figures(shown), changes=changes)


main()
