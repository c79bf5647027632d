"""The Bayesian network: variables, CPTs, noisy families, and where each parameter is."""
