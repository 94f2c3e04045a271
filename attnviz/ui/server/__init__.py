"""Everything that the visitors of a process share: caches, jobs, sockets, requests to a model.

In: names, texts and requests. Out: loaded models, captures and buffers, bounded, under full keys.
"""
