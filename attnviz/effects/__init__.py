"""The effect of a head on the answer, measured by intervening: exact, in batches, one number each.

`measures` turn a model's output into one number, `prepared` turns what a caller gives into inputs,
`heads` takes each head away in turn, `edges` cuts single edges, `first_order` estimates where that
is asked for by name. Every number here comes from running the model again.
"""
