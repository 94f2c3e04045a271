"""Text that a model writes: `decode` runs `generate` and joins its steps, `logits` keeps scores.

In: a model, its inputs and a `Generation`. Out: the written ids and one matrix per attention call.
"""
