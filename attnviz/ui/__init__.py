"""The Streamlit app, a thin skin over the library: everything it shows can be had without it.

`main` is the entry: language, address, sidebar, navigation over the files of pages/. A page reads
the `state`, asks the `cache` for a capture, lets `views` show it in a component, and says what it
is in the `frame`. `controls` is the sidebar; `components` holds the browser side. Streamlit is
imported here and in pages/ only, its session and query parameters in `state` only, its caches in
`cache` only.
"""
