"""The code of a page: its components and their host, joined, and the few lines that unpack them.

In: the ES modules and style sheets of `attnviz.pictures`, `viewer.js` and `boot.js`. Out: two
scripts. The large one travels compressed and is started as the text whose hash the page's policy
names; no part of it can be changed, and nothing is evaluated.
"""

import json
from functools import cache
from pathlib import Path

from attnviz.pictures.shared.bundle import SHARED, component_entry, join, stylesheet

HERE = Path(__file__).parent
COMPONENTS = ("grid", "head", "steps", "masks", "alignment", "patches")


@cache
def viewer_script() -> str:
    """The components and what shows them: a script that starts when it runs."""
    entries = {name: component_entry(name) for name in COMPONENTS}
    bundle = join({**entries, "viewer": HERE / "viewer.js"})
    listed = ", ".join(f"{name}: {bundle.entries[name]}.default" for name in COMPONENTS)
    sheets = json.dumps({name: stylesheet(name) for name in (SHARED, *COMPONENTS)})
    start = f"{bundle.entries['viewer']}.default({{ {listed} }}, {sheets});\n"
    return _alone(bundle.script + start)


@cache
def boot_script() -> str:
    """The script that unpacks and starts the other one."""
    bundle = join({"boot": HERE / "boot.js"})
    return _alone(f"{bundle.script}{bundle.entries['boot']}.default();\n")


@cache
def page_style() -> str:
    """The style sheet of the page around the components, with the app's colours."""
    return (HERE / "page.css").read_text(encoding="utf-8")


def _alone(script: str) -> str:
    """A script in a scope of its own, which no markup can end."""
    assert "</script" not in script.lower() and "<!--" not in script
    return f'(() => {{\n"use strict";\n{script}}})();\n'
