"""The pictures that browsers draw: a folder each, a frozen dataclass and plain ES modules.

The dataclass says what a picture shows. `canvas` packs it, with all texts below `component.<name>.`
of the catalogues, into one byte string; `types.d.ts` of the folder is written from it. `bundle`
joins modules and style sheets, `selection` validates what comes back from the browser. `shared/`
holds the JavaScript that several use. Switching, hovering and selecting stay in the browser; the
server hears of a selection once, when pointer or focus leaves.
"""
