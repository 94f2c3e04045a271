"""`alone`: threads that record one module take turns, and none waits for itself or for others."""

import threading

from torch import nn

from attnviz.capture.record.busy import alone
from tests.support.waiting import LIMIT_S


def test_another_thread_waits_for_a_module_and_one_that_has_it_does_not() -> None:
    shared, other, order = nn.Linear(2, 3), nn.Linear(2, 3), list[str]()

    def second() -> None:
        with alone([other]):  # of nobody
            order.append("other")
        free.set()
        with alone([shared, other]):
            order.append("second")

    free, thread = threading.Event(), threading.Thread(target=second, daemon=True)
    with alone([shared]), alone([shared]):  # a recording inside a recording
        thread.start()
        assert free.wait(LIMIT_S)
        thread.join(0.2)  # it would be done long since
        order.append("first")
    thread.join(LIMIT_S)
    assert order == ["other", "first", "second"]
