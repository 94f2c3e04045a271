"""Start: a film of what one head does with one word, and doors to everything else."""

import streamlit as st

from attnviz.i18n import text
from attnviz.ui.session import current
from attnviz.ui.start import doors, film


def main() -> None:
    """Draw the page."""
    lang = current.language()
    st.title(text(lang, "page.start.heading"))
    st.markdown(text(lang, "app.tagline"))
    film.show(lang)
    doors.show(lang)


main()
