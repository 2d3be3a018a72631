"""What users touch: the command line and the typed Python client.

Never imports another part of partmill: it speaks HTTP, and starts the other parts as processes.
"""
