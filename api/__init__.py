"""The HTTP contract: the only package that knows status codes."""
