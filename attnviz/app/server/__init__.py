"""Everything that the visitors of a process share: caches, jobs, sockets, requests to a model.

In: names, texts and requests. Out: loaded models, captures and buffers, bounded, under full keys
(`shared`). Each limit stands where it is enforced: on what is kept beside its function, on the
memory of a run in `peak`, on waiting runs in `turns`, on jobs in `jobs`, on uploads in
`edge.shield`, on classes in `teach.classroom.bounds`; docs/operation.md lists all of them.
"""
