"""The pages on many texts: the map of queries and keys, the atlas of heads."""
