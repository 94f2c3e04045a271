"""A capture as one safetensors file, and back without its model.

`write` and `read` are the two directions; `fields` reads untrusted JSON, `storages` keeps every
piece of memory once, `parts` and `calls` write and check what the JSON says of them. Tensors stand
in the file as flat arrays `s0`, `s1`, …; the JSON in the metadata entry `attnviz` says which view
of which array is the query of a call, and everything that is not a tensor.
"""
