"""Rooms in Redis or Valkey, for several processes that serve one class.

In: the address of the store, as `redis://host:6379/0`. Out: a `RoomStore` on the wall clock. A room
is one document; a change is written if nobody else wrote the room meanwhile, and is done again
otherwise. Each change is published, with the counts that pages heed; one thread of each process
listens and tells the pages of that process. A store that does not answer is asked again after a
second: until then every call fails at once.
"""

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError, WatchError
from redis.retry import Retry

from attnviz.errors import AttnVizError
from attnviz.teach.classroom import document
from attnviz.teach.classroom.bounds import Bounds
from attnviz.teach.classroom.room import Listing, Room
from attnviz.teach.classroom.store import (
    Admission,
    Listings,
    Result,
    Watcher,
    Watchers,
    Work,
    out_of_reach,
    unknown_room,
)

if TYPE_CHECKING:
    from redis.client import Pipeline

logger = logging.getLogger(__name__)

PREFIX = f"attnviz:{document.FORM}"
INDEX, CHANNEL = f"{PREFIX}:rooms", f"{PREFIX}:changed"
TIMEOUT_S = 2.0
DOWN_S = 1.0  # after a failure no call is tried for so long
HEARTBEAT_S = 15
MAX_TRIES = 200
OTHER_TYPE = "WRONGTYPE"  # of a value, as another program may have written it under our name


class RedisStore:
    """A `RoomStore` that all processes with the same address share."""

    def __init__(
        self, url: str, clock: Callable[[], float] = time.time, bounds: Bounds | None = None
    ) -> None:
        self.bounds, self.clock = bounds or Bounds(), clock
        self._redis = Redis.from_url(
            url,
            decode_responses=True,
            encoding_errors="replace",  # what is no UTF-8 is not ours, and no error
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            health_check_interval=HEARTBEAT_S,
            retry=Retry(NoBackoff(), 1),
        )
        self._watchers = Watchers(self.bounds.watchers)
        self._writing = threading.Lock()  # threads of one process do not outrun each other
        self._down_until, self._is_away = -math.inf, False
        self._ear = _Ear(self._redis, self._watchers)

    def rate(self, name: str, count: int, span_s: float) -> "RedisRate":
        """A limit of that name, counted over all processes."""
        return RedisRate(self._redis, self._reached, f"{PREFIX}:rate:{name}", count, span_s)

    def listed(self) -> Listings:
        """The rooms that are open, in the order in which they were opened."""
        with self._reached():
            return self._open(self._redis.hgetall(INDEX))

    def admit(self, judge: Callable[[Listings], Admission]) -> None:
        """Add the room that `judge` admits, and forget those that have ended."""
        self._transact(INDEX, partial(self._admit, judge))

    def look(self, code: str, work: Work[Result]) -> Result:
        """The result of work that changes nothing."""
        with self._reached():
            return work(self._room(code, _saved(self._redis, code)))

    def change(self, code: str, work: Work[Result]) -> Result:
        """The result of work on a room, done again where another process was faster."""
        return self._transact(_key(code), partial(self._change, code, work))

    def watch(self, code: str, watcher: Watcher) -> Callable[[], None]:
        """Call `watcher` after each change of a room, whichever process made it."""
        stop = self._watchers.add(code, watcher)
        if not self._ear.hears():
            stop()
            raise out_of_reach()
        return stop

    def close(self) -> None:
        """End the thread that listens, and all connections."""
        self._ear.close()
        self._redis.close()

    def _transact(self, key: str, work: "Callable[[Pipeline], Result]") -> Result:
        """The result of work whose writing takes effect only if nobody else wrote this key."""
        with self._writing, self._reached():
            for _ in range(MAX_TRIES):
                with self._redis.pipeline() as line, suppress(WatchError):
                    line.watch(key)  # type: ignore[no-untyped-call]
                    result = work(line)
                    if line.command_stack:
                        line.execute()
                    return result
        raise out_of_reach()

    def _admit(self, judge: Callable[[Listings], Admission], line: "Pipeline") -> None:
        every: Any = line.hgetall(INDEX)
        listed = self._open(every)
        admission = judge(listed)
        line.multi()
        for code in {*(every.keys() - listed.keys()), admission.ended} - {""}:
            line.hdel(INDEX, code)
            line.delete(_key(code))
        self._write(line, admission.code, admission.room, document.written(admission.room))

    def _change(self, code: str, work: Work[Result], line: "Pipeline") -> Result:
        saved = _saved(line, code)
        room = self._room(code, saved)
        before = room.changes
        result = work(room)
        line.multi()
        if room.closed:
            line.delete(_key(code))
            line.hdel(INDEX, code)
        elif (text := document.written(room)) != saved:
            self._write(line, code, room, text)
        if room.changes != before:
            line.publish(CHANNEL, document.written_counts(code, room.counts()))
        return result

    def _write(self, line: "Pipeline", code: str, room: Room, text: str) -> None:
        line.set(_key(code), text, ex=math.ceil(self.bounds.idle_s))
        line.hset(INDEX, code, document.written_listing(room.listing()))

    def _room(self, code: str, saved: Any) -> Room:
        if saved is None:
            raise unknown_room(code)
        try:
            room = document.read(saved, self.bounds)
        except document.NotOurs:
            _tell_of_another()
            raise unknown_room(code) from None
        if room.ended(self.clock()):
            raise unknown_room(code)
        return room

    def _open(self, every: Any) -> Listings:
        now = self.clock()
        open_now = {
            code: listing
            for code, listing in _listings(every)
            if not listing.ended(now, self.bounds)
        }
        return dict(sorted(open_now.items(), key=lambda entry: entry[1].opened))

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Calls of the store, whose errors become ours; after one nothing is tried for a while."""
        if time.monotonic() < self._down_until:
            raise out_of_reach()
        try:
            yield
        except RedisError as error:
            self._down_until = time.monotonic() + DOWN_S
            if not self._is_away:
                logger.warning("the store of the classes does not answer: %s", type(error).__name__)
            self._is_away = True
            raise out_of_reach() from error
        if self._is_away:
            logger.warning("the store of the classes answers again")
        self._is_away = False


class RedisRate:
    """At most `count` events in `span_s` seconds for each name, over all processes."""

    def __init__(
        self, redis: "Redis", reached: Callable[[], Any], key: str, count: int, span_s: float
    ) -> None:
        self._redis, self._reached, self._key = redis, reached, key
        self.count, self.span_s = count, span_s

    def is_spent(self, name: str, now: float) -> bool:
        """True if this name has caused as many events as it may."""
        with self._reached():
            recent: Any = self._redis.zcount(self._name(name), f"({now - self.span_s}", "+inf")
            return int(recent) >= self.count

    def note(self, name: str, now: float) -> None:
        """Count an event."""
        with self._reached():
            self._noted(name, now, secrets.token_hex(8))

    def takes(self, name: str, now: float) -> bool:
        """True if one more event is allowed, which is counted then."""
        event = secrets.token_hex(8)
        with self._reached():
            if self._noted(name, now, event) <= self.count:
                return True
            self._redis.zrem(self._name(name), event)
            return False

    def _noted(self, name: str, now: float, event: str) -> int:
        """The number of events of late with this one."""
        key = self._name(name)
        with self._redis.pipeline() as line:
            line.zremrangebyscore(key, "-inf", now - self.span_s)
            line.zadd(key, {event: now})
            line.zcard(key)
            line.expire(key, math.ceil(self.span_s))
            return int(line.execute()[2])

    def _name(self, name: str) -> str:
        return f"{self._key}:{name}"


class _Ear:
    """The thread of a process that hears of changes; it begins with the first who watches."""

    def __init__(self, redis: "Redis", watchers: Watchers) -> None:
        self._redis, self._watchers = redis, watchers
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._hears, self._closed = threading.Event(), threading.Event()

    def hears(self) -> bool:
        """True once changes are heard of; waits for that a little."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="attnviz-classes", daemon=True
                )
                self._thread.start()
        return self._hears.wait(TIMEOUT_S)

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._listen()
            except RedisError:
                pass
            except Exception:  # or no page of this process would hear of anything again
                logger.exception("listening to the classes broke off, and begins anew")
            if self._hears.is_set():
                self._hears.clear()
                self._watchers.call_all()
            self._closed.wait(DOWN_S)

    def _listen(self) -> None:
        with self._redis.pubsub() as hearing:  # type: ignore[no-untyped-call]
            hearing.subscribe(CHANNEL)
            while not self._closed.is_set():
                message = hearing.get_message(timeout=DOWN_S)
                if message is None:
                    continue
                if message["type"] == "subscribe":
                    if self._hears.is_set():  # the connection was lost, and changes with it
                        self._watchers.call_all()
                    self._hears.set()
                elif message["type"] == "message":
                    self._hear(message["data"])

    def _hear(self, said: str) -> None:
        """Tell of a change; what is not ours is not heard, and ends nothing."""
        try:
            code, counts = document.read_counts(said)
        except document.NotOurs:
            _tell_of_another()
        else:
            self._watchers.call(code, counts)


def _listings(every: Mapping[str, str]) -> Iterator[tuple[str, Listing]]:
    """The rooms of the list by their codes, without lines that are not ours."""
    for code, line in every.items():
        try:
            yield code, document.read_listing(line)
        except document.NotOurs:
            _tell_of_another()


@cache
def _tell_of_another() -> None:
    """Say in the log, once, that another program writes into the store."""
    logger.warning("another program writes into the store of the classes: it is not read")


def _saved(redis: "Redis | Pipeline", code: str) -> Any:
    """The document of a room; None for no room, and for what is no document at all."""
    try:
        return redis.get(_key(code))
    except ResponseError as error:
        if not str(error).startswith(OTHER_TYPE):
            raise
        _tell_of_another()
        return None


def _key(code: str) -> str:
    return f"{PREFIX}:room:{code}"


def redis_store(url: str) -> RedisStore:
    """The store at an address; `AttnVizError` for an address that is none."""
    try:
        return RedisStore(url)
    except ValueError as error:
        raise AttnVizError(
            "the address of the store of classes must look like redis://host:6379/0",
            code="bad_store_address",
        ) from error
