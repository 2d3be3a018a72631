"""All I/O behind the ports of domain: kernel process, artifact stores, Temporal connection, settings."""
