"""How CPTs are learned: one module for each estimator, and what they share."""
