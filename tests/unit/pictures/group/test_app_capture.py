"""`Accuracy`: a capture is trusted within its tolerance, and never with NaN."""

import math

from attnviz.pictures.group.app_capture import Accuracy


def test_an_error_is_ok_up_to_the_tolerance() -> None:
    assert Accuracy(1e-6, 1e-4).ok and Accuracy(1e-4, 1e-4).ok
    assert not Accuracy(2e-4, 1e-4).ok
    assert not Accuracy(math.nan, 1e-4).ok


def test_doubt_orders_by_the_share_of_the_tolerance_and_nan_comes_last() -> None:
    accuracies = [Accuracy(math.nan, 1.0), Accuracy(1e-5, 1e-4), Accuracy(1e-3, 1.0)]
    ordered = sorted(accuracies, key=lambda accuracy: accuracy.doubt)
    assert [accuracy.tolerance for accuracy in ordered[:2]] == [1.0, 1e-4]
    assert math.isnan(ordered[2].error)
