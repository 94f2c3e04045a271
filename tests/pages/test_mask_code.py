"""`compute._mask_code`: masks as code in every convention, and rows whose keys are all blocked."""

from contextlib import nullcontext

import pytest

from attnviz import i18n
from attnviz.app.page_parts import compute
from attnviz.capture.record.fast_path import fast_path
from attnviz.masks.code import CONVENTIONS, MaskParts, code
from tests.pages.conftest import Visit

TEXT = "The cat sat."
SECOND = "Dogs ran home fast."


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_code_is_that_of_the_padding_of_each_sentence(
    visit: Visit, lang: i18n.Language
) -> None:
    app = visit("masks", lang=lang, text=TEXT, text2=SECOND)
    shown = [block.value for block in app.code]
    short, full = MaskParts(7, 7, (True,) * 6 + (False,)), MaskParts(7, 7)
    assert shown == [code(parts, each) for parts in (short, full) for each in CONVENTIONS]
    assert [tab.label for tab in app.tabs[:4]] == [
        i18n.text(lang, f"forensics.{each}") for each in CONVENTIONS
    ]
    assert not app.error


def test_a_second_sentence_that_is_padded_has_its_mask_named(visit: Visit) -> None:
    app = visit("masks", text=SECOND, text2=TEXT)
    full, short = MaskParts(7, 7), MaskParts(7, 7, (True,) * 6 + (False,))
    shown = [block.value for block in app.code]
    assert shown == [code(parts, each) for parts in (full, short) for each in CONVENTIONS]


@pytest.mark.parametrize("others_record", [False, True])
def test_blocked_rows_stand_in_a_table_whatever_other_threads_do(
    visit: Visit, others_record: bool
) -> None:
    """While another thread records, torch's fast path is off for the whole process."""
    compute.dead_rows.clear()  # computed on a simulated device elsewhere
    with fast_path.held() if others_record else nullcontext():
        table = visit("masks", text=TEXT).table[0].value
    assert len(table) == 5
    results = " ".join(table.iloc[:, 1])
    assert results.count("NaN") == 2
    assert "uniform" in results
