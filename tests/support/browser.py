"""Which Chromium the browser tests drive: the one `make test` found, else one on this machine."""

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def chromium_path() -> str:
    """Path of the browser; fails with what to do where there is none."""
    named = os.environ.get("ATTNVIZ_CHROMIUM")
    path = named or next(filter(None, map(shutil.which, NAMES)), None)
    assert path, "no Chromium found: run `make test`, or set ATTNVIZ_CHROMIUM to its path"
    return path
