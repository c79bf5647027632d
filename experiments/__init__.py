"""Experiments: one package for each paper; its command repeats the experiment and reports which claims held."""
