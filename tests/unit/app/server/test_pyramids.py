"""`HeadPyramid`: its job builds the library's pyramid, reports, stops, and hands on its error."""

import threading

import pytest

from attnviz import tiles
from attnviz.app.server import pyramids
from attnviz.app.server.pyramids import HeadPyramid
from attnviz.attention.call import AttentionCall
from attnviz.errors import BadInput, Cancelled
from tests.support.waiting import LIMIT_S
from tests.unit.tiles.test_pyramid import make_call

ORIGINAL = tiles.build


def over(watched: HeadPyramid) -> HeadPyramid:
    watched.job.wait(LIMIT_S)
    assert watched.job.over
    return watched


def test_start_brings_the_pyramid_and_its_strongest_cells() -> None:
    call = make_call(701, 701)
    watched = over(pyramids.start(call, 1, 16))
    assert watched.job.state == "done" and watched.job.fraction == 1.0
    assert watched.ready() is not None
    expected = tiles.strongest(tiles.build(call, 1), pyramids.N_CELLS, diagonal=15)
    assert watched.cells == {16: expected}
    assert watched.strongest(16) is watched.cells[16]
    assert all(abs(cell.query - cell.key) >= 128 for cell in watched.strongest(128))


def test_where_tokens_differ_nothing_is_left_out() -> None:
    call = make_call(300, 701)
    watched = over(pyramids.start(call, 1, None))
    expected = tiles.strongest(tiles.build(call, 1), pyramids.N_CELLS, diagonal=None, first_keys=0)
    assert watched.strongest(None) == expected


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


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    stand_in = Slow()
    monkeypatch.setattr(tiles, "build", stand_in.build)
    return stand_in


def test_progress_is_seen_while_it_builds(slow: Slow) -> None:
    watched = pyramids.start(make_call(300, 300), 0, 16)
    assert slow.began.wait(LIMIT_S)
    assert watched.job.state == "running" and watched.ready() is None
    assert watched.job.fraction == pytest.approx(0.5 * pyramids.BUILT)
    slow.go.set()
    assert over(watched).job.state == "done"


def test_a_stopped_head_has_no_pyramid(slow: Slow) -> None:
    watched = pyramids.start(make_call(300, 300), 0, 16)
    assert slow.began.wait(LIMIT_S)
    watched.job.stop()
    assert over(watched).job.state == "stopped" and watched.ready() is None


def test_ready_raises_the_error_of_its_job() -> None:
    watched = over(pyramids.start(make_call(300, 300), 99, 16))
    with pytest.raises(BadInput):
        watched.ready()
