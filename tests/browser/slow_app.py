"""An app for the tests alone: the whole app, but each block of a long head takes a while.

So that a test can see the progress and stop it, on any machine.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

import attnviz
from attnviz import tiles
from attnviz.app.host import script
from attnviz.app.host.first_paint import FirstPaint
from attnviz.app.server.edge import streamlit_patches
from attnviz.app.server.edge.shield import Shield

BLOCK_S = 0.3
original = tiles.build


def slow_build(call: Any, head: int, *, progress: Callable[[float], None], **options: Any) -> Any:
    cancel: threading.Event = options["cancel"]

    def slow(fraction: float) -> None:
        progress(fraction)
        if not cancel.is_set():
            time.sleep(BLOCK_S)

    return original(call, head, progress=slow, **options)


tiles.build = slow_build
streamlit_patches.apply()
app = st.App(
    Path(attnviz.__file__).parent / "app" / "main.py",
    routes=script.routes(),
    middleware=[Middleware(Shield), Middleware(FirstPaint)],
)
