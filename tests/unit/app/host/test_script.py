"""`host.script`: what the browser fetches once, and what is sent with a component's data."""

import gzip

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz.app.host import script
from attnviz.app.host.first_paint import PREVIEW_SIZE
from attnviz.pictures.shared.bundle import component_names


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=script.routes()))


def path(below: str = "") -> str:
    return f"{below}/{script.PLACE}/{script.file_name()}"


@pytest.mark.parametrize("below", ["", "/some", "/some/where"])
def test_send_gives_the_script_also_below_a_folder(client: TestClient, below: str) -> None:
    answer = client.get(path(below), headers={"accept-encoding": "identity"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == script.script().text


def test_send_compresses_where_the_browser_takes_that(client: TestClient) -> None:
    answer = client.get(path(), headers={"accept-encoding": "br, gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.content == script.script().text == gzip.decompress(script.script().compressed)
    assert len(script.script().compressed) < len(script.script().text) / 3


def test_send_has_no_other_version(client: TestClient) -> None:
    assert client.get(f"/{script.PLACE}/0123456789abcdef.js").status_code == 404


def test_script_names_every_component_and_its_style_sheet() -> None:
    text = script.script().text.decode()
    for name in component_names():
        assert f"{name}: $" in text.split("export const components")[1]
        assert f'"{name}": "' in text.split("const sheets")[1]


@pytest.mark.parametrize("name", component_names())
def test_stub_is_short_and_not_a_path(name: str) -> None:
    stub = script.stub(name)
    assert "\n" in stub.strip()  # Streamlit takes a single line for a path
    assert len(stub) < 250
    assert f"components.{name}" in stub and script.file_name() in stub


def test_send_gives_the_font_and_the_browser_keeps_it(client: TestClient) -> None:
    answer = client.get(f"/some/{script.PLACE}/{script.font_name()}")
    assert answer.headers["content-type"] == "font/woff2"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content[:4] == b"wOF2"


def test_send_gives_the_preview_of_links(client: TestClient) -> None:
    answer = client.get(f"/{script.PLACE}/{script.preview_name()}")
    assert answer.headers["content-type"] == "image/png"
    width, height = (int.from_bytes(answer.content[at : at + 4]) for at in (16, 20))
    assert (width, height) == PREVIEW_SIZE and len(answer.content) < 150_000


def test_the_font_is_small_and_its_licence_lies_beside_it() -> None:
    assert script.FONT.stat().st_size < 150_000
    assert "SIL OPEN FONT LICENSE" in script.FONT.with_name("LICENSE.txt").read_text("utf-8")
