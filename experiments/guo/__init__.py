"""Guo, Gao and Di (2017): learning parameters with domain knowledge and insufficient data; tables 2 to 5."""
