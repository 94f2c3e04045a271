"""From a request to a capture: one recorded forward pass, or the steps of a model that writes.

`run` has `capture`. `request` says what a model reads and writes; `plan` turns that into inputs,
`record` records the calls, `locate` finds the layers around them, `generation` lets the model
write, `token_names` and `token_order` name the tokens, `storage` makes a capture smaller.
`blocked_rows` compares implementations. How and why: docs/capture.md.
"""
