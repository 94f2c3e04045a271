"""What belongs to the process is not left changed by two threads that overlap."""

import logging
import threading
from pathlib import Path

import torch

from attnviz.models.loader import load
from attnviz.models.process_setting import ProcessSetting
from tests.support import folders
from tests.support.waiting import LIMIT_S


def test_the_last_of_two_threads_puts_a_setting_back() -> None:
    log = logging.Logger("of this test", logging.WARNING)
    only_errors = ProcessSetting(logging.ERROR, lambda: log.level, log.setLevel)
    first_is_in, second_is_in, first_has_left = (threading.Event() for _ in range(3))

    def first() -> None:
        with only_errors.held():
            first_is_in.set()
            second_is_in.wait(LIMIT_S)
        first_has_left.set()

    thread = threading.Thread(target=first)
    thread.start()
    assert first_is_in.wait(LIMIT_S)
    with only_errors.held():
        second_is_in.set()
        assert first_has_left.wait(LIMIT_S)
        assert log.level == logging.ERROR
    thread.join(LIMIT_S)
    assert log.level == logging.WARNING


def test_loading_a_model_draws_no_random_number_of_others(tmp_path: Path) -> None:
    """Some classes draw weights before they read theirs: a seeded module would be another one."""
    folder = folders.save(tmp_path / "model", "marian")
    before = torch.get_rng_state()
    load(folder)
    assert torch.equal(torch.get_rng_state(), before)
