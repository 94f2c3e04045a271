"""Recording a forward pass: every attention call with its q, k, v and mask.

`recorder` collects the calls and `runs` numbers them. `switch`, `interface` and `kernels` record
modules that use transformers' attention function; `watch`, `trace`, `head_layout` and `multihead`
those with attention code of their own. `steps` keeps the calls of a model that writes.
"""
