"""The atlas: what travels, and which texts it needs."""

import numpy as np

from attnviz.pictures import atlas
from attnviz.pictures.atlas import (
    NO_FAMILY,
    AtlasHead,
    AtlasView,
    CountedRow,
    DecileRow,
    HeadDetail,
    MeasureRow,
)
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from tests.support.hostile import SCRIPT

VIEW = AtlasView(
    heads=(AtlasHead(0, 0, "Previous token"), AtlasHead(0, 1, ""), AtlasHead(1, 0, "")),
    axes=("Distance", "Entropy"),
    points=np.arange(18, dtype=np.float32).reshape(3, 2, 3),
    families=("Previous token",),
    family=np.array([0, NO_FAMILY, NO_FAMILY], np.uint8),
    maps=np.full((3, 5, 5), 0.25, np.float32),
    detail=HeadDetail(
        layer=0,
        head=1,
        title="L0.H1",
        sentences=("No role holds.",),
        rows=(MeasureRow("Entropy", "1.50", "1.40–1.60", "", "", "", "1.7", False),),
        by="Entropy",
        deciles=(DecileRow("1–3", "0.1", "0.2", (SCRIPT,)),),
        pairs=(CountedRow(("cat", SCRIPT), 7, "40%"),),
        keys=(CountedRow(("cat",), 9, "1.20"),),
        profile=np.array([np.nan, 0.5, 0.5], np.float32),
    ),
)


def test_pack_atlas_keeps_numbers_and_hostile_texts() -> None:
    header, arrays = unpack(packed(atlas.CANVAS, VIEW, "en"))
    np.testing.assert_array_equal(arrays["points"], VIEW.points)
    assert header["counts"] == [2, 1]
    assert header["detail"]["deciles"][0]["texts"] == [SCRIPT]
    assert header["detail"]["pairs"][0]["tokens"] == ["cat", SCRIPT]
    assert np.isnan(arrays["detail.profile"][0])
