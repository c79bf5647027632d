"""Learned results as files: one archive of JSON and arrays, from which nothing can be run."""
