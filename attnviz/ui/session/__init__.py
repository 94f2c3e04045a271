"""What one visitor looks at: the view in the address, uploads, and messages.

`state` is the only module that touches the session and the query parameters; `view` has the fields
of the address.
"""
