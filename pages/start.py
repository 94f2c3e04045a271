"""Start: a film of what one head does with one word, and doors to everything else."""

from attnviz.ui.page import frame
from attnviz.ui.start import doors, film


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("start", heading="heading")
    film.show(lang)
    doors.show(lang)


main()
