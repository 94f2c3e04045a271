"""The script of all components, the font and a picture, which a browser fetches once and keeps.

In: the modules and style sheets of `attnviz.pictures`, and `streamlit.js`, which mounts them.
Out: one ES module under a path that names its content, and for each component the few lines that
Streamlit sends with its data: they import the module and hand the component over. Streamlit would
otherwise send the whole code of a component again with every change of its data.
"""

import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from attnviz.pictures.shared.bundle import (
    FOLDER,
    SHARED,
    component_entry,
    component_names,
    join,
    stylesheet,
)

PLACE = "scripts"
FONT = Path(__file__).parents[1] / "fonts" / "inter.woff2"
PREVIEW = Path(__file__).with_name("preview.png")
FILE_TYPES = {".woff2": "font/woff2", ".png": "image/png"}
ADAPTER = Path(__file__).with_name("streamlit.js")
HELPERS = ("bar", "click_guard", "language", "scheme", "show_below", "skip_link")
OWN = (ADAPTER, *(ADAPTER.with_name(f"{name}.js") for name in HELPERS))
YEAR_S = 365 * 24 * 3600
TYPE = "text/javascript; charset=utf-8"
# The path is relative to the page's, as that of a class's socket: the app may lie below a folder.
STUB = """\
const script = await import(new URL("{place}/{name}", location.href).href);
await script.font;
export default script.streamlit(script.components.{component}, {sheets});
"""


@dataclass(frozen=True)
class Script:
    """The text that the browser gets, and the same compressed."""

    text: bytes
    compressed: bytes


@cache
def file_name() -> str:
    """The name of the script, which changes with any of its sources."""
    digest = hashlib.sha256()
    for source in (*sorted(FOLDER.glob("*/*.js")), *sorted(FOLDER.glob("*/*.css")), *OWN):
        digest.update(f"{source.parent.name}/{source.name}\n".encode() + source.read_bytes())
    return f"{digest.hexdigest()[:16]}.js"


def font_name() -> str:
    """The name of the font, which changes with its content."""
    return _named(FONT)


def preview_name() -> str:
    """The name of the picture that stands in the preview of a link."""
    return _named(PREVIEW)


@cache
def _named(file: Path) -> str:
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}{file.suffix}"


@cache
def script() -> Script:
    """The script of this version of the package: made when a browser first asks for it."""
    components = {name: component_entry(name) for name in component_names()}
    bundle = join({**components, "streamlit": ADAPTER})
    listed = ", ".join(f"{name}: {bundle.entries[name]}.default" for name in components)
    sheets = {name: stylesheet(name) for name in (SHARED, *components)}
    text = (
        f"{bundle.script}"
        f"export const components = {{ {listed} }};\n"
        f"const sheets = {json.dumps(sheets)};\n"
        f"export const streamlit = {bundle.entries['streamlit']}.default(sheets);\n"
        f"export const font = {bundle.entries['streamlit']}.waitForFont();\n"
    ).encode()
    return Script(text, gzip.compress(text, mtime=0))


def stub(component: str, mounts: tuple[str, ...] = ()) -> str:
    """The lines that mount one component: what Streamlit sends in place of its code.

    `mounts` names the components that it draws inside of itself.
    """
    sheets = json.dumps([SHARED, *mounts, component])
    return STUB.format(place=PLACE, name=file_name(), component=component, sheets=sheets)


def routes() -> list[BaseRoute]:
    """The route of the script, for the launcher; also where the app lies below a folder."""
    return [Route(f"/{PLACE}/{{name}}", send), Route(f"/{{base:path}}/{PLACE}/{{name}}", send)]


def send(request: Request) -> Response:
    """The script, compressed where a browser takes that, the font or preview; 404 for others."""
    headers = {
        "Cache-Control": f"public, max-age={YEAR_S}, immutable",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    name = request.path_params["name"]
    for file in (FONT, PREVIEW):
        if name == _named(file):
            content_type = FILE_TYPES[file.suffix]
            return Response(file.read_bytes(), headers=headers, media_type=content_type)
    if name != file_name():
        return Response(status_code=404)
    current = script()
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            current.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=TYPE
        )
    return Response(current.text, headers=headers, media_type=TYPE)
