"""Models: what attnviz knows by name, and how a name becomes a model in memory.

`registry` lists the cards, `loader` turns a name, a folder or a module into a `LoadedModel`,
`loaded_model` is that resource (model, tokenizer, locks), `architecture` says what a config
describes. A model family needs no entry here: its attention is recognised as it runs, by
`attnviz.capture.record`.
transformers is imported here and in `capture` only.
"""
