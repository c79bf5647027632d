"""Liao and Ji (2008): parameters from measurements only, with qualitative knowledge; figure 1 and a study of gaps."""
