"""Start: a film of what one head does with one word, miniatures of the rest, and doors to it."""

from attnviz.app.frame import frame
from attnviz.app.start import doors, film, gallery


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("start", heading="heading")
    film.show(lang)
    doors.show(lang)
    gallery.show(lang)


main()
