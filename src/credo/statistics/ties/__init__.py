"""Likelihood of rows that are tied together: ties relaxed into soft evidence, and compensated for [yao, section 5]."""
