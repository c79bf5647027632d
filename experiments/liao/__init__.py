"""Liao and Ji (2008): parameters from measurements only, with knowledge; figure 1, and a study of missing values."""
