"""Recording a forward pass: who calls attention, and with which q, k, v and mask.

`recorder` collects the calls, `switch` and `interface` record modules that use transformers' own
attention function, `watch` and `multihead` those with attention code of their own.
"""
