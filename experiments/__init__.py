"""Experiments: one folder a paper, each a command that says which of the claims held."""
