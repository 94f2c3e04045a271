"""Short stories whose next words can be known: what the two decoders learned from.

`stories` draws documents, `events`, `facts` and `pronouns` make their sentences, `words` has the
vocabulary and `probes` the questions that the checks ask.
"""
