"""Tests of loading load for themselves: nothing that another test read is given to them."""

import pytest


@pytest.fixture(autouse=True)
def loading_itself(own_models: None) -> None:
    """No shared model."""
