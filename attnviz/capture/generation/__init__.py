"""Text that a model writes.

In: a model, its inputs and a `Generation` (`settings`). Out: the written ids (`decode`), the scores
they were drawn from (`logits`), and one matrix for each attention of the model (`join`).
"""
