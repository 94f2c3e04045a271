"""A table whose cells may open a head."""
