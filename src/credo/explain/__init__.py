"""Explanations: what each statement did, how well it agrees with the data, and what to observe next."""
