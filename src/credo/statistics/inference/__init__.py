"""Exact inference for incomplete rows: what is shared is computed once, by compiled loops."""
