"""The Streamlit host of the components: `mount` registers one, `components` mounts each.

In: packed buffers of `attnviz.pictures`. Out: elements of the page, and what a visitor chose.
"""
