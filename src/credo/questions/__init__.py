"""Questions to a fit: answers, what they depend on, draws for other tools, and whether the network fits the data."""
