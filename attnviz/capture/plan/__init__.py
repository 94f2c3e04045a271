"""What goes into the model, checked and tokenised before it runs.

In: what the caller gave: texts, a target, pictures, sound, a message. Out: a `Plan`, the inputs of
the model and the tokens of each stack. Nothing has run when an error is raised.
"""
