"""Start: a film of what one head does with one word, miniatures of the rest, and doors to it."""

from attnviz.app.frame import frame
from attnviz.app.page_parts import start


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("start", heading="heading", reads_alone=True)
    start.show_film(lang)
    start.show_doors(lang)
    start.show_gallery(lang)


main()
