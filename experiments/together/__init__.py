"""One fit with everything at once, and what each part is worth."""
