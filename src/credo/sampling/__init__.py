"""Draws from what statements allow, and posterior means of them."""
