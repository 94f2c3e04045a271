"""Everything that the visitors of a process share: caches, jobs, sockets, requests to a model.

In: names, texts and requests. Out: loaded models, captures and buffers, bounded, under full keys.
Each limit stands where it is enforced: `cache` on what is kept, `peak` on the memory of a run,
`turns` on waiting runs, `jobs` on jobs, `edge.shield` on uploads, `lessons.classroom.bounds` on
classes; docs/operation.md lists all of them.
"""
