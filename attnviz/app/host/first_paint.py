"""The first paint: Streamlit's page with our title, font and style sheets, a mark and a sentence.

In: an answer of Streamlit that is its page. Out: the same page, in which a tab and the preview of a
link have our name before any script has run, and the page is not white. What is painted stands in
the element that Streamlit's script fills: it takes it away with its first frame. The style sheets
of page and bar stand behind that element, and so after Streamlit's own, which go into the head:
nothing is drawn without them, and of two rules of one weight ours counts. Font and script are
fetched beside Streamlit's own and not after them, and nothing is shown before the font is there
(`font_wait.js`), so that no letter changes its width later. The document is in the language of the
address from the start (`first_language.js`); and Streamlit's script is told where the server is,
instead of trying addresses until one answers.
"""

import html
import os
import re
from functools import cache
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.host import script
from attnviz.app.server.edge.settings import PUBLIC_VARIABLE
from attnviz.i18n import LANGUAGES, tag
from attnviz.pictures.shared.pages import PAGES
from attnviz.pictures.shared.pages import path as path_of

TITLE = "attnviz: words look at words"
PREVIEW_SIZE = (1200, 630)
DESCRIPTION = (
    "See which words a language model looks at, forbid one look, and watch its answer change."
)
APP = Path(__file__).parents[1]
FIRST_SHEET = Path(__file__).with_name("first_paint.css")
SERVER = Path(__file__).with_name("server_place.js")
FONT_WAIT = Path(__file__).with_name("font_wait.js")
LANGUAGE = Path(__file__).with_name("first_language.js")
SHEETS = (APP / "bar" / "bar.css", APP / "style.css")
ASIDE = re.compile(r"/(static|_stcore|scripts|media|component)/|\.\w+$")
# a compressed page, a part of it or "not modified" could not be written anew
UNREADABLE = (b"accept-encoding", b"range", b"if-none-match", b"if-modified-since")
ROOT = '<div id="root"></div>'
FONT_TAG = re.compile(r'<link\s+rel="preload"\s+href="\./static/media/SourceSans[^>]*>')
META = f"""<title>{TITLE}</title>
    <meta name="description" content="{DESCRIPTION}" />
    <meta property="og:title" content="{TITLE}" />
    <meta property="og:description" content="{DESCRIPTION}" />
    <meta property="og:type" content="website" />"""
PAINTED = f"""<div id="root"><div class="av-first" aria-hidden="true">
      <svg width="120" height="64" viewBox="0 0 120 64" fill="none" stroke-linecap="round">
        <path d="M106 56C106 2,14 2,14 56" stroke-width="8" />
        <circle cx="14" cy="58" r="5" />
        <circle cx="106" cy="58" r="5" />
      </svg><span>{TITLE}</span></div></div>"""


class FirstPaint:
    """The ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write the page anew where the answer is one."""
        is_page = scope["type"] == "http" and scope["method"] == "GET"
        if not is_page or ASIDE.search(scope["path"]):
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def answer(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                if b"text/html" in dict(message["headers"]).get(b"content-type", b""):
                    start = message
                    return
            elif start is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                page = painted(body.decode()).encode()
                headers = MutableHeaders(scope=start)
                headers["content-length"] = str(len(page))
                del headers["etag"]
                await send(start)
                message = {**message, "body": page}
            await send(message)

        headers = [(name, value) for name, value in scope["headers"] if name not in UNREADABLE]
        await self.app({**scope, "headers": headers}, receive, answer)


def painted(page: str) -> str:
    """Streamlit's page with our head, first paint and styles; any other page as it is."""
    page = FONT_TAG.sub("", page)
    return page.replace("<title>Streamlit</title>", head()).replace(
        ROOT, f"{PAINTED}<style>{read(*SHEETS)}</style>"
    )


@cache
def head() -> str:
    """The head of our page: its name, language, font and script, and where its server is."""
    font, module = (f"./{script.PLACE}/{name}" for name in (script.font_name(), script.file_name()))
    return f"""{META}
    {preview(os.environ.get(PUBLIC_VARIABLE, ""))}
    <link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin />
    <link rel="modulepreload" href="{module}" />
    <style id="av-inter">@font-face {{ font-family: Inter; font-weight: 400 700;
    src: url("{font}"); }}</style>
    <script>{read(LANGUAGE).replace("TAGS", " ".join(map(tag, LANGUAGES)))}</script>
    <style>{read(FIRST_SHEET)}</style>
    <script>{read(FONT_WAIT)}</script>
    <script>{read(SERVER).replace("PAGES", "|".join(map(path_of, PAGES)))}</script>"""


def preview(public_url: str) -> str:
    """The picture for previews of links, whose address must be whole; nothing without one."""
    if not public_url:
        return ""
    address = f"{public_url.rstrip('/')}/{script.PLACE}/{script.preview_name()}"
    return f"""<meta property="og:image" content="{html.escape(address)}" />
    <meta property="og:image:width" content="{PREVIEW_SIZE[0]}" />
    <meta property="og:image:height" content="{PREVIEW_SIZE[1]}" />
    <meta name="twitter:card" content="summary_large_image" />"""


def read(*files: Path) -> str:
    """The text of files, one after the other."""
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
