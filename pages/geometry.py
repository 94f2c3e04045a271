"""Geometry: queries and keys as arrows; the angle between them makes the score and the weight.

Reads the view, runs the model through the cache, finds the plane of the chosen head, says what was
verified. Without a capture everything but the real head is there.
"""

from attnviz.app.frame import attention_choice, capture_of_view, frame_line, take
from attnviz.app.page_parts import atlas, geometry
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        shown = attention_choice.choice(shown)
    geometry.show(lang, shown)
    if shown is None or frame_line.ends(shown):
        return
    atlas.place_of_text(shown)
    geometry.verification(shown)
    take.offer(shown, "geometry")


main()
