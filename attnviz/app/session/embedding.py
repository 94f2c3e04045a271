"""Pages inside a frame: slides and course pages show one picture with `?embed=true`.

In: the address of the browser. Out: True if the picture stands alone. Streamlit keeps `embed` in
the address of a session and out of the query parameters.
"""

import streamlit as st


def is_embedded() -> bool:
    """True if the page shows its picture alone, without bar, title and explanations."""
    return bool(st.context.is_embedded)
