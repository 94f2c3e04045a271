"""The session of one visitor: the view in the address, uploads, and messages.

`view` has the parts of a view and `address` their parameters; `current` is the view of the session,
`store` its storage, `address_bar` the browser's address, `widgets` the keys of what is on the page.
"""
