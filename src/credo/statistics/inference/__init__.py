"""Exact inference for rows with gaps: what is shared is worked out once, by compiled loops."""
