"""Thin Temporal activities: heartbeat, delegate, translate failures. Never touch I/O or a kernel directly."""
