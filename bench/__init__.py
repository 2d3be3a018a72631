"""Measurements, run by hand and as smoke runs in CI; nothing of the service imports them."""
