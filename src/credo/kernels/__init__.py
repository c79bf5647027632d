"""Everything compiled by Numba: flat arrays in, flat arrays out; the rest of credo calls it through wrappers."""
