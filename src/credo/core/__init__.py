"""Everything compiled: Python with types, which Cython makes C of when the package is built. Flat arrays in and out."""
