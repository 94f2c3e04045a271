"""A build runs beside its asker, tells how far it is, stops when asked, and hands on what broke."""

import threading

import pytest

from attnviz import tiles
from attnviz.attention.call import AttentionCall
from attnviz.errors import BadInput, Cancelled
from attnviz.ui.server import pyramids
from tests.unit.tiles.test_pyramid import make_call

LIMIT_S = 60.0


def done(build: pyramids.Build) -> pyramids.Build:
    build.wait(LIMIT_S)
    assert build.future.done()
    return build


def test_a_build_brings_the_pyramid_and_its_strongest_cells() -> None:
    call = make_call(701, 701)
    build = done(pyramids.start(call, 1, 16))
    assert build.state == "ready" and build.fraction == 1.0
    pyramid = build.pyramid()
    assert pyramid is not None
    expected = tiles.strongest(tiles.build(call, 1), pyramids.LISTED, diagonal=15)
    assert build.found == {16: expected}
    assert build.strongest(16) is build.found[16]
    assert all(abs(cell.query - cell.key) >= 128 for cell in build.strongest(128))


def test_where_tokens_differ_nothing_is_left_out() -> None:
    call = make_call(300, 701)
    build = done(pyramids.start(call, 1, None))
    expected = tiles.strongest(tiles.build(call, 1), pyramids.LISTED, diagonal=None, first_keys=0)
    assert build.strongest(None) == expected


class Slow:
    """Stands in for the library's build: waits until it is let go or cancelled."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()

    def build(self, call: AttentionCall, head: int, **options: object) -> object:
        progress, cancel = options["progress"], options["cancel"]
        assert callable(progress) and isinstance(cancel, threading.Event)
        progress(0.5)
        self.began.set()
        while not self.go.wait(0.01):
            if cancel.is_set():
                raise Cancelled("stopped", code="cancelled")
        return ORIGINAL(call, head)


ORIGINAL = tiles.build


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    stand_in = Slow()
    monkeypatch.setattr(tiles, "build", stand_in.build)
    return stand_in


def test_progress_is_seen_while_it_works(slow: Slow) -> None:
    build = pyramids.start(make_call(300, 300), 0, 16)
    assert slow.began.wait(LIMIT_S)
    assert build.state == "building" and build.pyramid() is None
    assert build.fraction == pytest.approx(0.5 * pyramids.SEARCH_FROM)
    slow.go.set()
    assert done(build).state == "ready"


def test_stop_stops_and_the_next_one_begins(slow: Slow) -> None:
    first = pyramids.start(make_call(300, 300), 0, 16)
    waiting = pyramids.start(make_call(300, 300), 1, 16)
    last = pyramids.start(make_call(300, 300), 2, 16)
    assert slow.began.wait(LIMIT_S)
    waiting.stop()
    assert waiting.state == "stopped" and waiting.future.cancelled()
    first.stop()
    assert first.state == "stopped" and first.pyramid() is None
    slow.go.set()
    assert done(last).state == "ready"
    assert not first.future.cancelled()
    with pytest.raises(Cancelled):
        first.future.result(LIMIT_S)


def test_what_is_ready_is_not_stopped() -> None:
    build = done(pyramids.start(make_call(300, 300), 0, 16))
    build.stop()
    assert build.state == "ready" and build.pyramid() is not None


def test_what_went_wrong_reaches_whoever_asks() -> None:
    build = done(pyramids.start(make_call(300, 300), 99, 16))
    with pytest.raises(BadInput):
        build.pyramid()


def test_all_builds_share_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def noted(call: AttentionCall, head: int, **_: object) -> tiles.Pyramid:
        names.append(threading.current_thread().name)
        return ORIGINAL(call, head)

    monkeypatch.setattr(tiles, "build", noted)
    for build in [pyramids.start(make_call(300, 300), head, 16) for head in range(3)]:
        done(build)
    assert len(names) == 3 and len(set(names)) == 1
    assert names[0] != threading.current_thread().name
