"""The launcher of `component_page.py`: an app for the tests alone, with the components' script."""

from pathlib import Path

import streamlit as st

from attnviz.app.host import script
from attnviz.app.server import class_socket

routes = [*script.routes(), *class_socket.routes()]
app = st.App(Path(__file__).parent / "component_page.py", routes=routes)
