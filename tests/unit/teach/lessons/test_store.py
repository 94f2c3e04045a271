"""`Rate`: how many events a name may cause, from when on it may again, and who is forgotten."""

import pytest

from attnviz.teach.classroom import store
from attnviz.teach.classroom.store import Rate


def test_takes_allows_as_many_events_as_it_counts_and_counts_no_refusal() -> None:
    rate = Rate(2, 10.0)
    assert [rate.takes("a", now) for now in (0.0, 1.0, 2.0, 9.9)] == [True, True, False, False]
    assert rate.takes("b", 2.0), "another name has its own count"
    assert rate.takes("a", 10.0), "the event of 0.0 is 10 s old: it no longer counts"
    assert not rate.takes("a", 10.9)
    assert rate.takes("a", 11.0)


def test_is_spent_counts_what_note_notes_and_nothing_itself() -> None:
    rate = Rate(2, 10.0)
    assert [rate.is_spent("a", 0.0) for _ in range(5)] == [False] * 5
    rate.note("a", 0.0)
    assert not rate.is_spent("a", 0.0)
    rate.note("a", 0.0)
    assert rate.is_spent("a", 9.99)
    assert not rate.is_spent("a", 10.0)


def test_rate_forgets_the_older_half_of_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that comes often must not get new tries because many others came in between."""
    monkeypatch.setattr(store, "MAX_NAMES", 6)
    rate = Rate(1, 100.0)
    for at, name in enumerate("abcdef"):
        assert rate.takes(name, float(at))
    assert rate.takes("g", 6.0), "a seventh name makes room for itself"
    assert [rate.is_spent(name, 7.0) for name in "abcdefg"] == [False] * 3 + [True] * 4


def test_rate_forgets_names_whose_events_have_passed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last event of a name decides its age, not its first."""
    monkeypatch.setattr(store, "MAX_NAMES", 4)
    rate = Rate(2, 100.0)
    for name, now in (("a", 0.0), ("b", 1.0), ("c", 2.0), ("d", 3.0), ("a", 4.0), ("d", 5.0)):
        rate.note(name, now)
    rate.note("e", 6.0)
    rate.note("b", 6.0)
    assert [rate.is_spent(name, 7.0) for name in "abcde"] == [True, False, False, True, False]
