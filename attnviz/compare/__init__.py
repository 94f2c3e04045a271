"""Two captures side by side: `pairing` finds counterparts and the differences between heads.

In: the tokens and weights of both. Out: plain numpy. Nothing here runs a model.
"""
