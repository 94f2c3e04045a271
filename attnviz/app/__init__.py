"""The Streamlit app, a thin skin over the library: everything it shows can be had without it.

`main` is the entry: address, language, bar, navigation over the files of pages/. A page asks
`frame.capture_of_view` for what it shows, lets `attnviz.pictures` turn that into the data of a
canvas, and `host` mounts the canvas. Streamlit is imported here, in app.py and in pages/
only; its session is touched in `session.store` only, its query parameters in `session.address_bar`
only, its private parts in `server.edge.streamlit_patches` only. What sessions share is kept by
`server.shared`, beside the function that computes it.
"""
