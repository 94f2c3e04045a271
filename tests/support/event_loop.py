"""A coroutine that a test runs, also where browser tests ran before in the same process."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_apart(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine, run in a thread of its own.

    Playwright's synchronous interface leaves an event loop running in the thread of the tests, and
    `asyncio.run` refuses to begin a second one there.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
