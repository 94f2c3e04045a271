"""The parts of the pages: a module for each page, named after it, and one for what two pages show.

In: the view and the capture that is shown. Out: what the page draws. The thin scripts in `pages/`
put the parts in their order. (Streamlit would take a folder `pages` beside `main` for its own.)
"""
