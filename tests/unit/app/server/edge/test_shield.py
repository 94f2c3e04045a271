"""`Shield`: hosts, headers and uploads; `healthz` and `metrics`."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from attnviz.app.server.edge import health, shield, streamlit_patches, warm
from attnviz.app.server.edge.shield import OTHER_NAMES
from attnviz.app.session import routes
from attnviz.pictures.shared.pages import path as path_of
from tests.support.event_loop import run_apart

MIB = 2**20
UPLOAD = "/_stcore/upload_file/{session}/{file}"


def page(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("page")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    routes = [*health.routes(), Route("/{path:path}", page, methods=["GET", "PUT", "DELETE"])]
    app = Starlette(routes=routes, middleware=[Middleware(shield.Shield)])
    settings = {"server.address": "127.0.0.1", "server.allowedHosts": []}
    monkeypatch.setattr(config, "get_option", settings.get)
    with TestClient(app, base_url="http://localhost:8501", follow_redirects=False) as running:
        running.settings = settings  # type: ignore[attr-defined]
        yield running


@pytest.mark.parametrize("host", ["evil.example:8501", "localhost.evil.example", ""])
def test_a_local_server_has_local_names_only(client: TestClient, host: str) -> None:
    assert client.get("/head", headers={"host": host}).status_code == 421
    assert client.get("/weights", headers={"host": "127.0.0.1:9"}).status_code == 200


def test_the_names_of_a_public_server_are_the_operators(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = client.settings  # type: ignore[attr-defined]
    settings |= {"server.address": "0.0.0.0", "server.allowedHosts": []}
    assert client.get("/", headers={"host": "anything.example"}).status_code == 200
    settings["server.allowedHosts"] = ["*.school.example"]
    assert client.get("/", headers={"host": "a.school.example:443"}).status_code == 200
    assert client.get("/", headers={"host": "anything.example"}).status_code == 421
    monkeypatch.setattr(warm, "is_ready", lambda: True)
    for path in ("/healthz", "/_stcore/health"):
        assert client.get(path, headers={"host": "10.0.0.7:8501"}).status_code == 200
    monkeypatch.setenv(health.KEY_VARIABLE, "secret")
    asked = {"host": "10.0.0.7:8501", "authorization": "Bearer secret"}
    assert client.get("/metrics", headers=asked).status_code == 200
    assert client.get("/_stcore/metrics", headers=asked).status_code == 421


def test_pages_bring_the_headers_and_frames_are_the_operators(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = client.get("/head").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    monkeypatch.setenv(shield.FRAMES_VARIABLE, "https://lms.example; script-src *")
    policy = client.get("/head").headers["content-security-policy"]
    assert policy.endswith("frame-ancestors https://lms.example  script-src *")


def test_uploads_of_one_page_are_bounded_together(client: TestClient) -> None:
    def put(session: str, file: str, n_bytes: int) -> int:
        path = UPLOAD.format(session=session, file=file)
        return client.put(path, headers={"content-length": str(n_bytes)}).status_code

    assert [put("a", str(n), 60 * MIB) for n in range(4)] == [200, 200, 413, 413]
    assert put("a", "0", 60 * MIB) == 200 and put("b", "0", 60 * MIB) == 200
    client.delete(UPLOAD.format(session="a", file="0"))
    assert put("a", "9", 60 * MIB) == 200
    assert client.put(UPLOAD.format(session="c", file="0"), content=iter([b"x"])).status_code == 411


def test_uploads_of_all_pages_are_bounded_together(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = MemoryUploadedFileManager("/_stcore/upload_file")
    running = SimpleNamespace(exists=lambda: True, instance=lambda: running, uploaded_file_mgr=kept)
    monkeypatch.setattr(streamlit_patches, "Runtime", running)
    monkeypatch.setenv(shield.UPLOADS_VARIABLE, "4")

    def put(session: str, n_bytes: int) -> int:
        path = UPLOAD.format(session=session, file="0")
        return client.put(path, headers={"content-length": str(n_bytes)}).status_code

    assert put("a", 3 * MIB) == 200
    kept.add_file("a", UploadedFileRec("0", "a.npz", "", bytes(3 * MIB)))
    assert streamlit_patches.uploaded_bytes() == 3 * MIB
    assert [put("b", 2 * MIB), put("b", MIB)] == [413, 200]
    kept.remove_session_files("a")
    assert put("c", 4 * MIB) == 200


async def keep(request: Request) -> PlainTextResponse:
    """Read an upload as Streamlit does."""
    return PlainTextResponse(str(len(await request.body())))


async def send_upload(
    guarded: shield.Shield, file: str, n_announced: int, body: AsyncIterator[bytes]
) -> int:
    """The status of an upload that announces some bytes, and sends those of `body`."""
    statuses: list[int] = []

    async def receive() -> Message:
        chunk = await anext(body, b"")
        return {"type": "http.request", "body": chunk, "more_body": bool(chunk)}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"host", b"localhost"), (b"content-length", str(n_announced).encode())]
    path = UPLOAD.format(session=file, file=file)
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers, "query_string": b""}
    await guarded(scope, receive, send)
    return statuses[0]


async def sent(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def guarded_app() -> shield.Shield:
    routes = [Route("/{path:path}", keep, methods=["PUT"])]
    app = Starlette(routes=routes)
    return shield.Shield(app)


def test_uploads_that_are_only_announced_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(shield.UPLOADS_VARIABLE, "4")
    guarded = guarded_app()

    async def tried() -> list[int]:
        never = asyncio.Event()

        async def nothing() -> AsyncIterator[bytes]:
            await never.wait()
            yield b""

        def begun(number: int) -> asyncio.Task[int]:
            return asyncio.create_task(send_upload(guarded, f"idle-{number}", 3 * MIB, nothing()))

        idle = [begun(number) for number in range(22)]
        await asyncio.sleep(0)
        honest = await send_upload(guarded, "honest", 5000, sent(bytes(5000)))
        never.set()
        return [honest, *await asyncio.gather(*idle)]

    assert run_apart(tried()) == [200] * 23


def test_uploads_on_their_way_count_as_they_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(shield.UPLOADS_VARIABLE, "4")
    guarded = guarded_app()

    async def tried() -> list[int]:
        arrived, may_end = asyncio.Event(), asyncio.Event()

        async def first() -> AsyncIterator[bytes]:
            yield bytes(3 * MIB)
            arrived.set()
            await may_end.wait()

        running = asyncio.create_task(send_upload(guarded, "a", 3 * MIB, first()))
        await arrived.wait()
        other = await send_upload(guarded, "b", 2 * MIB, sent(bytes(2 * MIB)))
        liar = await send_upload(guarded, "c", 10, sent(bytes(2 * MIB)))
        may_end.set()
        return [other, liar, await running]

    assert run_apart(tried()) == [413, 413, 200]


def test_an_upload_that_does_not_arrive_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shield, "UPLOAD_S", 0.01)
    guarded = guarded_app()

    async def slow() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    assert run_apart(send_upload(guarded, "a", 100, slow())) == 408
    assert not guarded._arriving


def test_who_goes_in_the_middle_of_an_upload_is_no_error() -> None:
    async def leave(scope: Scope, receive: Receive, send: Send) -> None:
        raise ClientDisconnect

    async def silent() -> AsyncIterator[bytes]:
        yield b""

    guarded = shield.Shield(leave)
    with pytest.raises(IndexError):  # nobody is there to be sent a status
        run_apart(send_upload(guarded, "a", 100, silent()))
    assert not guarded._arriving


def test_streamlits_metrics_are_closed(client: TestClient) -> None:
    assert client.get("/_stcore/metrics").status_code == 404


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/start?lang=ja", "/?lang=ja"),
        ("/overview?model=stories&layer=2", "/look?model=stories&layer=2"),
        ("/overview?embed=true", "/look?embed=true"),
        ("/attn/switchboard?head=1", "/attn/change?head=1"),
        ("/switches", "/change"),
        ("/steps/?head=1", "/compute?head=1"),
        ("/map", "/texts"),
        ("/head", "/look?open=1"),
        ("/attn/head/?layer=2&embed=true", "/attn/look?open=1&layer=2&embed=true"),
    ],
)
def test_an_old_address_leads_to_the_same_view(client: TestClient, old: str, new: str) -> None:
    moved = client.get(old)
    assert (moved.status_code, moved.headers["location"]) == (307, new)


def test_every_page_has_an_address_of_its_own_and_none_leads_on() -> None:
    paths = [path_of(page) for page in routes.files()]
    assert len(set(paths)) == len(paths) and not set(paths) - {"start"} & {*OTHER_NAMES}
    left = {page for page in routes.files() if path_of(page) != page}
    assert left < {*OTHER_NAMES}, "each page that took its room's name is found by its old one"
    there = {name.partition("?")[0] for name in OTHER_NAMES.values()}
    assert there - {""} <= set(paths)


@pytest.mark.parametrize("path", ["//evil.example/start", "/attn//evil.example/switchboard"])
def test_another_name_of_a_page_leads_to_no_other_server(client: TestClient, path: str) -> None:
    answer = client.get(f"http://localhost:8501{path}")
    assert "location" not in answer.headers


def test_metrics_need_the_key_and_say_numbers_only(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "is_ready", lambda: True)
    assert client.get("/healthz").text == client.get("/courses/attn/healthz").text == "ok\n"
    assert client.get("/metrics").status_code == 404
    monkeypatch.setenv(health.KEY_VARIABLE, "secret")
    assert client.get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 404
    lines = client.get("/metrics", headers={"authorization": "Bearer secret"}).text.splitlines()
    values = {name: float(value) for name, value in (line.split() for line in lines)}
    assert values["attnviz_memory_bytes"] > 10 * MIB and values["attnviz_classes"] >= 0
