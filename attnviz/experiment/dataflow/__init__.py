"""Data flow of one forward pass: every operation, and the summands of any tensor it made.

`trace` writes down the operations of a pass, `parts` splits a tensor into summands with norms (and
gates, where asked) frozen, `stream` finds the states of the residual stream and runs the rest of
the model from any of them. Nothing here knows a model, a layer's name or an architecture.
"""
