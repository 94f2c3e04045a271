"""Recording what attention does while a model runs.

`record` switches a model to attnviz's attention function for one `with` block and collects its
calls; `interface` is that function; `projections` finds W_Q, W_K, W_V and W_O beside each call;
`own_code` and `fallback` serve models whose attention is their own; `plan`, `run`, `generation` and
`images` turn a text or a picture into a `Capture`. How and why: docs/capture.md.
"""
