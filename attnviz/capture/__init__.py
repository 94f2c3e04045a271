"""Recording what attention does while a model runs.

`record` switches a model to attnviz's attention function for one `with` block and collects its
calls; `interface` is that function; `projections` finds W_Q, W_K, W_V and W_O beside each call;
`text` turns a text into a `Capture`. How and why: docs/capture.md.
"""
