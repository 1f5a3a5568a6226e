"""Search for compliant traces."""
