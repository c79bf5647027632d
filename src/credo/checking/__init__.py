"""The check: what statements say together, and about the data."""
