"""The inputs of the model, checked and tokenised before it runs.

In: a model and a `Request`. Out: a `Plan`, the inputs of the model and the tokens of each stack.
`planners` has one function for each kind of request; nothing has run when an error is raised.
"""
