"""What users touch: the command line and the typed Python client. Speaks HTTP only."""
