"""How tables are learned: one module an estimator, and what they share."""
