"""Captures made of what other tools recorded: attentions, arrays, caches.

`attentions` is the entry, `shapes` reads tuples and arrays, `lens_cache` caches with names. In:
what another tool returned. Out: a `Capture`, with steps if q, k and v are among it.
"""
