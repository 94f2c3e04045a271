"""Models: what attnviz knows by name, and how a name becomes a model in memory.

`registry` lists the cards, `loader` turns a name into a `LoadedModel`, `loaded` is that resource
(model, tokenizer, lock) and `labels` makes tokens readable. transformers is imported here and in
`capture` only.
"""
