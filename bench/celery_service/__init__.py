"""The usual way to put CadQuery behind HTTP: FastAPI, Celery and Redis, written as an experienced engineer writes it.

Never made slower than it has to be, and never given a guarantee that such a service does not have by itself.
"""
