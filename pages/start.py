"""Start: a stage on which one forbids a look and sees the answer move; miniatures of the rest."""

from attnviz.app.frame import frame
from attnviz.app.page_parts import start


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("start", heading="heading")
    start.show_stage(lang)
    start.show_gallery(lang)


main()
