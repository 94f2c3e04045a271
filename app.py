"""The launcher: run it with ``streamlit run app.py``.

It only names the real entry, ``attnviz/app/main.py``. With the page list in this file instead, the
first visitor of a fresh server who opens a deep link (``/head?text=…``) would get Streamlit's old
page mode: that page alone, without the bar and with untranslated names. The path is taken from
the package, so that the same file works in a checkout and in an installed wheel.
"""

from functools import partial
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

import attnviz
from attnviz.app.host import script
from attnviz.app.host.first_paint import FirstPaint
from attnviz.app.page_parts import start
from attnviz.app.page_parts.classroom import staged_card
from attnviz.app.server import class_socket
from attnviz.app.server.edge import health, heap, settings, streamlit_patches
from attnviz.app.server.edge.lifetime import lifetime
from attnviz.app.server.edge.shield import Shield

settings.require_sound()
streamlit_patches.apply()
heap.keep_few_arenas()
app = st.App(
    Path(attnviz.__file__).parent / "app" / "main.py",
    routes=[*class_socket.routes(staged_card.prepare), *script.routes(), *health.routes()],
    lifespan=partial(lifetime, start.prepare),
    middleware=[Middleware(Shield), Middleware(FirstPaint)],
)
