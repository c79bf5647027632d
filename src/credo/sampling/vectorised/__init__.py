"""The samplers in plain NumPy: hundreds of chains advance at once, and nothing is compiled."""
