"""Threads, where kernels and those who call them look for them."""

from credo.threads import map_in_threads, single_threaded

__all__ = ["map_in_threads", "single_threaded"]
