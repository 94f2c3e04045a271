"""The browser components: one folder each, a typed Python wrapper around plain ES modules.

`buffer` packs what a component shows into one byte string, `bundle` joins its modules and style
sheets, `selection` validates what comes back from the browser.
`shared/` holds the JavaScript that all components use. A component gets its strings translated from
the caller and keeps switching, hovering and selecting in the browser; the server hears of a
selection once, when pointer or focus leaves.
"""
