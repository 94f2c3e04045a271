"""Why a number is what it is, by data flow: attributions, each to be read beside an intervention.

`direct` splits the answer into what each head, MLP and embedding wrote, `lens` reads the stream
after each layer, `why` splits a score into writers × writers, `feeds` finds which head moves which
later one and `cut_path` cuts one such path, `from_where` follows the answer back to the tokens. A
share is not a cause.
"""
