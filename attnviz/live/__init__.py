"""Models that run in the reader's browser: no server, a picture with every key.

`engine` computes a forward pass with its queries, keys, values and weights, `reading` turns a text
into tokens, `views` packs what the canvases show; all in JavaScript, run by `worker.js` and held to
the library's own numbers by tests. `index.d.ts` says what a page and the worker tell each other,
and which files Python writes for them.
"""
