"""An app for the tests alone: one component with tokens that no tokenizer would make.

`?show=grid|head|…` says which, by the names in `main`. Every text that a component has is hostile:
tokens, the sentences about heads, the model's name, reasons. One step has an error above its
tolerance. The numbers are made up; what they look like is not looked at here. `?show=wall` is a
card of the course as a class's wall shows it: `card=lesson/name`, and `revealed`.
"""

from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.classroom import staged_card
from attnviz.app.server.class_socket import FOLDER, rooms
from attnviz.compare import Slot
from attnviz.pictures import (
    alignment,
    bars,
    class_card,
    grid,
    head,
    masks,
    pair,
    patches,
    save_image,
    similarity,
    steps,
    tiles,
    writing,
)
from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.shared.canvas import Canvas, View
from attnviz.pictures.shared.heads import Axes, HeadsView, Patches, TokenAxis
from attnviz.pictures.shared.selection import Extent
from attnviz.teach.classroom.rooms import NewRoom
from attnviz.teach.classroom.stage import Stage
from attnviz.types import StepView, ignore
from tests.support.hostile import TEXT, TOKENS

N = len(TOKENS)
N_LAYERS, N_HEADS, D_HEAD, D_MODEL = 2, 3, 5, 15
AXIS = TokenAxis(TOKENS, special=np.zeros(N, dtype=np.bool_), written=np.zeros(N, dtype=np.bool_))
WRITTEN_AXIS = replace(AXIS, written=np.arange(N) >= N // 2)
EXTENT = Extent(N_LAYERS, N_HEADS, N, N)
SHAPES = {
    **dict.fromkeys(("x", "projected"), (("query", "d_model"), (N, D_MODEL))),
    **dict.fromkeys(("q", "mixed"), (("query", "d_head"), (N, D_HEAD))),
    **dict.fromkeys(("k", "v"), (("key", "d_head"), (N, D_HEAD))),
    **dict.fromkeys(("scores", "scaled", "masked", "weights"), (("query", "key"), (N, N))),
    "concat": (("query", "d_concat"), (N, N_HEADS * D_HEAD)),
}
ORDER = ("x", "q", "k", "v", "scores", "scaled", "masked", "weights", "mixed", "concat")
BROKEN_STAGE, ERROR, TOLERANCE = "mixed", 0.5, 1e-4


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).random(shape, dtype=np.float32)


def show(canvas: Canvas[View], view: View) -> None:
    """Draws a canvas; what it sends is kept as that of any page."""
    draw(canvas, view, canvas.name, "en", dict.fromkeys(("selection", "open", "edit"), ignore))


def heads_view() -> HeadsView:
    hostile = " ".join(TOKENS)
    return HeadsView(
        model=hostile,
        queries=AXIS,
        keys=AXIS,
        cross=False,
        sentences=((hostile,) * N_HEADS,) * N_LAYERS,
        weights=random(N_LAYERS, N_HEADS, N, N),
    )


def step_view(stage: str) -> StepView:
    (rows, cols), shape = SHAPES[stage]
    return StepView(
        stage=stage,
        values=random(*shape),
        rows=rows,
        cols=cols,
        signed=stage != "weights",
        range=(0.0, 1.0) if stage == "weights" else None,
        rows_sum_to=None,
        error=ERROR if stage == BROKEN_STAGE else None,
        tolerance=TOLERANCE,
    )


def show_steps() -> None:
    blocked = np.zeros((N, N), dtype=np.uint8)
    blocked[:, -1] = 1
    data = steps.StepsData(
        place=steps.HeadPlace(0, 1, N_LAYERS, N_HEADS),
        tokens=steps.StepTokens(AXIS, AXIS, cross=True),
        form=steps.HeadForm(D_HEAD**-0.5),
        views=tuple(map(step_view, ORDER)),
        absent={"projected": " ".join(TOKENS)},
        blocked=steps.BlockedCells(blocked, (TOKENS[0],), (" ".join(TOKENS),)),
    )
    show(steps.CANVAS, data)


def show_masks() -> None:
    data = masks.MasksData(
        queries=(AXIS,),
        keys=(AXIS,),
        cross=True,
        padding=np.zeros((1, N), dtype=np.bool_),
        key_padding=np.arange(N)[None] == N - 1,
        layer=0,
        head=1,
        n_layers=N_LAYERS,
        n_heads=N_HEADS,
        as_model=1,
        sizes={},
        mask_names=("padding", "custom"),
        mask_reasons=(" ".join(TOKENS), " ".join(TOKENS)),
        padding_of="memory",
        model_blocks=np.zeros((1, N, N), dtype=np.bool_),
        weights=random(1, N, N),
        scaled=random(1, N, N),
        sinks=np.full((1, N), -np.inf, dtype=np.float32),
    )
    show(masks.CANVAS, data)


def show_alignment() -> None:
    row = tuple(alignment.ShownWord(token, at) for at, token in enumerate(TOKENS))
    view = alignment.AlignmentView(
        source=row,
        target=row,
        weights=random(N_LAYERS, N_HEADS, N, N) / N,
        stated=alignment.Stated(0, 1, None, " ".join(TOKENS)),
    )
    show(alignment.CANVAS, view)


def show_similarity() -> None:
    view = similarity.SimilarityView(" ".join(TOKENS), TOKENS, 1, random(N, N))
    show(similarity.CANVAS, view)


def show_writing() -> None:
    parts = random(N, N + 1) / (N + 1)
    view = replace(heads_view(), queries=WRITTEN_AXIS, keys=WRITTEN_AXIS, small=True)
    draws = writing.Draws(
        first=0,
        n_vocabulary=99,
        labels=((*TOKENS, ""),) * N,
        before=parts,
        after=parts,
        cut=np.resize(np.arange(3, dtype=np.uint8), parts.shape),
        drawn=np.arange(N),
        rank=np.arange(N),
        others=random(N, 2),
        n_left=np.arange(N),
        sampled=True,
        sampling=" ".join(TOKENS),
    )
    show(writing.CANVAS, writing.WritingView(view, draws))


def show_bars() -> None:
    rows = tuple(Bar(token, 1 / (2 + place), mark=token) for place, token in enumerate(TOKENS))
    view = bars.BarsView(TOKENS[0], rows, note=" ".join(TOKENS), values="a", seconds="b")
    show(bars.CANVAS, view)


def show_pair() -> None:
    """One token was replaced, one is on either side alone."""
    side = pair.SideView(
        " ".join(TOKENS), AXIS, AXIS, True, *(tuple(range(N)),) * 2, EXTENT, random(2, 3, N, N)
    )
    slots = tuple(Slot(at, at, at > 1) for at in range(N - 1))
    slots = (*slots, Slot(N - 1, None), Slot(None, N - 1))
    view = pair.PairView(side, side, slots, slots, True, True, True, False, random(2, 3, N + 1))
    show(pair.CANVAS, view)


def show_patches() -> None:
    """Half of the tokens are patches of a picture, the others stand beside them."""
    rows, columns = 2, N // 4
    picture = np.zeros((8, 8, 3), dtype=np.uint8)
    grid_of = Patches(rows, columns, first=N - rows * columns, picture=picture)
    view = replace(heads_view(), patches=grid_of)
    show(patches.CANVAS, view)


def show_tiles() -> None:
    data = tiles.TilesData(
        stamp=TOKENS[0],
        axes_stamp=TOKENS[0],
        axes=Axes.of(AXIS, AXIS, cross=False),
        cross=False,
        layer=0,
        head=1,
        extent=EXTENT,
        top=0,
        ready=True,
        want=tiles.Want(),
        exact={(0, 0, 0): random(tiles.SIDE, tiles.SIDE)},
        cells=tuple((query, N - 1 - query, 0.5) for query in range(N)),
    )
    show(tiles.CANVAS, data)


@st.cache_resource
def the_class() -> tuple[NewRoom, str]:
    """A class, and the seat of its wall."""
    room = rooms().create(Stage("where", "next"))
    return room, rooms().join(room.code, None, watches=True)


def show_wall() -> None:
    slug, _, name = st.query_params["card"].partition("/")
    (room, seat), revealed = the_class(), "revealed" in st.query_params
    stage = Stage(slug, name, shown=revealed, revealed=revealed, count=12)
    rooms().show(room.code, room.key, stage)
    view = class_card.ClassCardView(
        folder=FOLDER,
        code=room.code,
        seat=seat,
        place="wall",
        lang="en",
        card=staged_card.staged(room.code, "en", rooms().stage(room.code)).card,
        present=30,
        answered=12,
        link="http://192.168.1.20:8501/learn?room=K7Q-M2X",
        qr=("10" * 12, "01" * 12) * 12,
    )
    draw(class_card.CANVAS, view, "wall", "en", {"heard": ignore, "kept": ignore})


def main() -> None:
    if st.query_params["show"] == "wall":
        show_wall()
        return
    pages = {
        "grid": lambda: show(grid.CANVAS, replace(heads_view(), small=True)),
        "bars": show_bars,
        "pair": show_pair,
        "patches": show_patches,
        "head": lambda: show(head.CANVAS, heads_view()),
        "steps": show_steps,
        "masks": show_masks,
        "alignment": show_alignment,
        "similarity": show_similarity,
        "writing": show_writing,
        "tiles": show_tiles,
    }
    pages[st.query_params["show"]]()
    show(save_image.CANVAS, save_image.SaveImageView((TEXT,)))


if __name__ == "__main__":
    main()
