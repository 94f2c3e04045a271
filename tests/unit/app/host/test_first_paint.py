"""`FirstPaint` and `painted`: the page of the Streamlit that is installed, written anew."""

from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.app.host import script
from attnviz.app.host.first_paint import (
    DESCRIPTION,
    FONT_TAG,
    ROOT,
    SHEETS,
    TITLE,
    FirstPaint,
    painted,
    preview,
)
from attnviz.pictures.shared.pages import PAGES
from attnviz.pictures.shared.pages import path as path_of

PAGE = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")


def answer(request: Request) -> Response:
    if "json" in request.url.path:
        return JSONResponse({"title": "<title>Streamlit</title>"})
    if "/static/" not in request.url.path and "_stcore" not in request.url.path:
        assert "accept-encoding" not in request.headers  # a compressed page cannot be read
    return HTMLResponse(PAGE, headers={"etag": "old"})


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/{path:path}", answer)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(FirstPaint)]))


def test_painted_finds_each_of_its_places_in_the_installed_page() -> None:
    assert PAGE.count("<title>Streamlit</title>") == PAGE.count(ROOT) == 1
    assert len(FONT_TAG.findall(PAGE)) == 1
    assert "SourceSans" not in painted(PAGE)


def test_font_and_script_are_fetched_beside_those_of_streamlit() -> None:
    page, place = painted(PAGE), f"./{script.PLACE}"
    assert f'rel="preload" href="{place}/{script.font_name()}"' in page
    assert f'src: url("{place}/{script.font_name()}")' in page
    assert f'rel="modulepreload" href="{place}/{script.file_name()}"' in page


def test_every_page_is_told_of_before_the_script_of_streamlit() -> None:
    page = painted(PAGE)
    told = page.index(f"(?:{'|'.join(map(path_of, PAGES))})")
    assert told < page.index('<script type="module"')


def test_the_style_sheets_stand_once_behind_what_is_painted() -> None:
    page = painted(PAGE)
    for sheet in SHEETS:
        rules = sheet.read_text(encoding="utf-8")
        assert page.count(rules) == 1 and page.index(rules) > page.index('class="av-first"')


@pytest.mark.parametrize("path", ["/", "/look", "/learn?lang=ja"])
def test_a_page_has_our_name_before_any_script(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert f"<title>{TITLE}</title>" in found.text and DESCRIPTION in found.text
    assert "<title>Streamlit" not in found.text and 'class="av-first"' in found.text
    assert int(found.headers["content-length"]) == len(found.content)
    assert "etag" not in found.headers


@pytest.mark.parametrize("path", ["/static/index", "/_stcore/health", "/json"])
def test_other_answers_stay_as_they_are(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert "<title>Streamlit</title>" in found.text and "av-first" not in found.text


def test_a_link_has_a_picture_where_the_public_address_is_known() -> None:
    assert preview("") == ""
    name = f"{script.PLACE}/{script.preview_name()}"
    for address in ("https://here.example/folder", "https://here.example/folder/"):
        said = f'property="og:image" content="https://here.example/folder/{name}"'
        assert said in preview(address)
    assert '"><script' not in preview('https://here.example/"><script>')
