"""The launcher of `wall_page.py`: an app for the tests alone, with the components' script."""

from pathlib import Path

import streamlit as st

from attnviz.app.host import script

app = st.App(Path(__file__).parent / "wall_page.py", routes=script.routes())
