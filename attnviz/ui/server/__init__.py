"""What all visitors of this process share: caches, threads, sockets, requests to a model.

In: names, texts and requests. Out: loaded models, captures and buffers, bounded, under full keys.
"""
