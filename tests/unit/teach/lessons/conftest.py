"""The two stores of rooms: the memory of this process, and a real Redis."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from attnviz.teach.classroom import redis_store
from attnviz.teach.classroom.bounds import Bounds
from attnviz.teach.classroom.redis_store import RedisStore
from attnviz.teach.classroom.store import MemoryStore, RoomStore
from tests.support.redis_server import empty, redis_server

LISTENS_S = 0.05
MakeStore = Callable[[Callable[[], float], Bounds], RoomStore]


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture
def redis_stores(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeStore]:
    """A function that makes a store, as one process of a server would; all are one class room.

    A store that is closed listens as long as one that does not answer is left alone.
    """
    monkeypatch.setattr(redis_store, "DOWN_S", LISTENS_S)
    stores: list[RedisStore] = []

    def make(clock: Callable[[], float], bounds: Bounds) -> RedisStore:
        stores.append(RedisStore(redis_url, clock, bounds))
        return stores[-1]

    empty(redis_url)
    yield make
    for store in stores:
        store.close()


@pytest.fixture(params=["memory", "redis"])
def make_store(request: pytest.FixtureRequest) -> MakeStore:
    """A function that makes the store, in which all rules of rooms hold."""
    if request.param == "memory":
        return partial(MemoryStore)
    made: MakeStore = request.getfixturevalue("redis_stores")
    return made
