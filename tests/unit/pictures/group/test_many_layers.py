"""What many layers cost: a file of a few kilobytes may name thousands of which one was kept."""

import dataclasses

import pytest

from attnviz.attention.call import AttentionCall
from attnviz.pictures.group import groups, measures
from tests.support import captures

SHAPE_READS = 40  # of each layer's number of queries, whatever asks for it


def test_measuring_a_layer_does_not_look_at_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = captures.every_kind()["projections"].calls
    calls = (dataclasses.replace(call, layer=layer) for layer in range(100))
    (group,) = groups.groups(captures.capture(*calls))
    read: list[int] = []

    def n_query(call: AttentionCall) -> int:
        read.append(call.layer)
        return call.inputs.n_query

    monkeypatch.setattr(AttentionCall, "n_query", property(n_query))
    assert len(measures.measure(group).roles) == 100
    assert 100 < len(read) < SHAPE_READS * 100
