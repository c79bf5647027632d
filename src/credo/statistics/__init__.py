"""Counts, expected counts, likelihoods: what data are to an estimator."""
