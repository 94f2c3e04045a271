"""The wrapper of resume: what travels, and what of the browser's answer is believed."""

import pytest

from attnviz.pictures import resume
from attnviz.pictures.resume import Left


def test_parse_takes_a_page_and_a_query() -> None:
    assert resume.parse({"page": "steps", "query": "layer=3"}) == Left("steps", "layer=3")


@pytest.mark.parametrize(
    "sent",
    [None, "steps", {"page": "/etc", "query": ""}, {"page": "head"}, {"page": "head", "query": 3}],
)
def test_parse_refuses_nonsense(sent: object) -> None:
    assert resume.parse(sent) is None
