"""The steps of a sheet of typed matrices, as the page Steps draws those of a model's head.

In: a language and a `Sheet`. Out: the data of the canvas; its badges compare with torch's kernel.
"""

import numpy as np

import attnviz
from attnviz.i18n import Language, text
from attnviz.pictures import steps as component
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.pictures.steps.fill import reach
from attnviz.teach.calculator.run import call
from attnviz.teach.calculator.sheet import Sheet


def sheet_steps(lang: Language, sheet: Sheet) -> component.StepsData:
    """Every stage of a sheet of typed matrices; the badges compare with torch's own kernel."""
    derived = attnviz.derive(call(sheet), 0)
    return component.StepsData(
        place=component.HeadPlace(layer=0, head=0, n_layers=1, n_heads=1),
        tokens=component.StepTokens(
            queries=_plain_axis(sheet.labels(sheet.n_query)),
            keys=_plain_axis(sheet.labels(sheet.n_key)),
            cross=False,
        ),
        form=component.HeadForm(
            scaling=sheet.scaling,
            without_bias=frozenset(("q", "k", "v", "projected")),
            given=not sheet.from_x,
        ),
        views=derived.views(),
        absent={"x": text(lang, "lab.no_x"), "projected": text(lang, "lab.no_w_o")},
        blocked=component.BlockedCells(
            (~sheet.may_attend).astype(np.uint8),
            mask_names=(text(lang, f"lab.mask_kind_{sheet.mask}"),),
            mask_reasons=() if sheet.mask == "none" else (text(lang, f"lab.reason_{sheet.mask}"),),
        ),
        reach=reach(derived),
        by_hand=component.HandEdits(allowed=False),
        by_kernel=True,
    )


def _plain_axis(labels: tuple[str, ...]) -> TokenAxis:
    none = np.zeros(len(labels), dtype=np.bool_)
    return TokenAxis(labels, special=none, written=none)
