"""Every component, mounted by Streamlit: one function each.

In: a component's packed buffer, the key of its element, callbacks. Out: what one run brought back
from the browser, validated; nothing for those that only send events.
"""

from collections.abc import Callable

from attnviz.components import (
    alignment,
    atlas,
    bars,
    board,
    camera,
    circuit,
    film,
    gallery,
    geometry,
    grid,
    head,
    ledger,
    listener,
    map,
    masks,
    motion,
    pad,
    pair,
    patches,
    recall,
    scheme,
    similarity,
    stencil,
    steps,
    switches,
    tiles,
    usher,
    writing,
)
from attnviz.components.selection import ComponentResult, Extent, Selection
from attnviz.types import ignore
from attnviz.ui.host.mount import mount, renderer


def show_alignment(
    data: bytes,
    extent: Extent,
    key: str = "alignment",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component, as `mount` does."""
    return mount(alignment.NAME, data, extent, key, on_selection, on_open)


def show_atlas(
    data: bytes,
    extent: Extent,
    key: str = "atlas",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
    on_text: Callable[[], None] = ignore,
) -> None:
    """Mounts the component; `on_text` is called when a text of the survey is to be looked at."""
    renderer(atlas.NAME)(
        data=data,
        key=key,
        on_selection_change=on_selection,
        on_open_change=on_open,
        on_text_change=on_text,
    )


def show_bars(data: bytes, key: str = "bars") -> None:
    """Mounts the component."""
    renderer(bars.NAME)(data=data, key=key)


def show_board(data: bytes, key: str, on_cell: Callable[[], None] = ignore) -> None:
    """Mounts the component; `on_cell` is called when a cell was chosen."""
    renderer(board.NAME)(data=data, key=key, on_cell_change=on_cell)


def show_camera(data: bytes, key: str) -> None:
    """Mounts the component."""
    renderer(camera.NAME)(data=data, key=key)


def show_circuit(
    data: bytes,
    key: str,
    on_circuit: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> None:
    """Mounts the component; `on_circuit` is called when a path was chosen or the arrows changed."""
    renderer(circuit.NAME)(data=data, key=key, on_circuit_change=on_circuit, on_open_change=on_open)


def show_film(data: bytes, key: str, on_text: Callable[[], None]) -> None:
    """Mounts the component; `on_text` is called when a sentence was typed or chosen."""
    renderer(film.NAME)(data=data, key=key, on_text_change=on_text)


def show_gallery(
    data: bytes, key: str, on_look: Callable[[], None], on_miniature: Callable[[], None]
) -> None:
    """Mounts the component; `on_look` is called while a miniature in sight lacks its numbers.

    `on_miniature` is called when one was clicked.
    """
    renderer(gallery.NAME)(
        data=data, key=key, on_look_change=on_look, on_miniature_change=on_miniature
    )


def show_geometry(
    data: bytes,
    extent: Extent,
    key: str,
    on_selection: Callable[[], None] = ignore,
    on_geometry: Callable[[], None] = ignore,
) -> None:
    """Mounts the component; `on_geometry` is called when arrows, tab or positions changed."""
    renderer(geometry.NAME)(
        data=data, key=key, on_selection_change=on_selection, on_geometry_change=on_geometry
    )


def show_grid(
    data: bytes,
    extent: Extent,
    key: str = "grid",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component, as `mount` does."""
    return mount(grid.NAME, data, extent, key, on_selection, on_open)


def show_head(
    data: bytes,
    extent: Extent,
    key: str = "head",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component, as `mount` does."""
    return mount(head.NAME, data, extent, key, on_selection, on_open)


def show_ledger(data: bytes, key: str, on_ledger: Callable[[], None] = ignore) -> None:
    """Mounts the component; `on_ledger` is called when a cell that opens something was clicked."""
    renderer(ledger.NAME)(data=data, key=key, on_ledger_change=on_ledger)


def show_listener(
    data: bytes, key: str, on_heard: Callable[[], None], on_kept: Callable[[], None] = ignore
) -> None:
    """Mounts the component; the page, or the fragment around it, runs after `on_heard`.

    `on_kept` is called when the tab has sent the seat or the key that it kept over a reload.
    """
    renderer(listener.NAME)(data=data, key=key, on_heard_change=on_heard, on_kept_change=on_kept)


def show_map(
    data: bytes,
    extent: Extent,
    key: str = "map",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component, as `mount` does; `on_open` is called when a token is to be opened."""
    return mount(map.NAME, data, extent, key, on_selection, on_open)


def show_masks(
    data: bytes,
    extent: Extent,
    key: str = "masks",
    on_selection: Callable[[], None] = ignore,
) -> Selection | None:
    """Mounts packed masks; the selection that the visitor committed, None for none or nonsense."""
    return mount(masks.NAME, data, extent, key, on_selection).selection


def show_motion(data: bytes, key: str) -> None:
    """Mounts the component."""
    renderer(motion.NAME)(data=data, key=key)


def show_pad(data: bytes, key: str, on_picture: Callable[[], None]) -> None:
    """Mounts the component; `on_picture` is called when a picture came."""
    renderer(pad.NAME)(data=data, key=key, on_picture_change=on_picture)


def show_pair(
    data: bytes, extent: Extent, key: str = "pair", on_selection: Callable[[], None] = ignore
) -> ComponentResult:
    """Mounts the component, as `mount` does; `extent` is that of the left side."""
    return mount(pair.NAME, data, extent, key, on_selection)


def show_patches(
    data: bytes,
    extent: Extent,
    key: str = "patches",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component, as `mount` does."""
    return mount(patches.NAME, data, extent, key, on_selection, on_open)


def show_recall(data: bytes, key: str, on_resume: Callable[[], None] = ignore) -> None:
    """Mounts the component; `on_resume` is called when the browser knows where one left."""
    renderer(recall.NAME)(data=data, key=key, on_resume_change=on_resume)


def show_scheme(data: bytes, key: str) -> None:
    """Mounts the component."""
    renderer(scheme.NAME)(data=data, key=key)


def show_similarity(data: bytes, key: str = "similarity") -> None:
    """Mounts the component."""
    renderer(similarity.NAME)(data=data, key=key)


def show_stencil(data: bytes, key: str, on_cells: Callable[[], None]) -> None:
    """Mounts the component; `on_cells` is called when a stroke is over."""
    renderer(stencil.NAME)(data=data, key=key, on_cells_change=on_cells)


def show_steps(
    data: bytes,
    extent: Extent,
    key: str = "steps",
    on_selection: Callable[[], None] = ignore,
    on_edit: Callable[[], None] = ignore,
) -> Selection | None:
    """Mounts packed steps; the selection that the visitor committed, None for none or nonsense.

    `on_edit` is called when the visitor changed a number.
    """
    return mount(steps.NAME, data, extent, key, on_selection, on_edit=on_edit).selection


def show_switches(
    data: bytes,
    key: str,
    on_switches: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> None:
    """Mounts the component; `on_switches` is called when heads were switched."""
    renderer(switches.NAME)(
        data=data, key=key, on_switches_change=on_switches, on_open_change=on_open
    )


def show_tiles(data: bytes, key: str = "tiles", on_selection: Callable[[], None] = ignore) -> None:
    """Mounts the component; what it wants is in its state under "want", and reruns its fragment."""
    renderer(tiles.NAME)(
        data=data, key=key, on_selection_change=on_selection, on_want_change=ignore
    )


def show_usher(data: bytes, key: str, on_progress: Callable[[], None] = ignore) -> None:
    """Mounts the component; `on_progress` is called when it has sent the kept progress."""
    renderer(usher.NAME)(data=data, key=key, on_progress_change=on_progress)


def show_writing(
    data: bytes,
    extent: Extent,
    key: str = "writing",
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component, as `mount` does."""
    return mount(writing.NAME, data, extent, key, on_selection, on_open)
